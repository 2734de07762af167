from __future__ import annotations

import threading

from fairrec.core.ahead import do_ahead


def _others() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "ahead"]


def test_work_is_done_beside_the_caller_and_its_errors_are_not_told(recwarn):
    caller, done = threading.current_thread(), []

    def fail() -> None:
        done.append(threading.current_thread())
        raise ValueError

    do_ahead(fail)
    for thread in _others():
        thread.join()
    assert len(done) == 1
    assert done[0] is not caller
    assert not recwarn.list
