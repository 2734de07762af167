from __future__ import annotations

import subprocess
import sys
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


def test_modules_are_loaded_in_turn_and_one_that_cannot_be_is_told_to_whoever_needs_it():
    code = (
        "import sys, threading\n"
        "from fairrec.core.ahead import load_ahead\n"
        "load_ahead('colorsys', 'no_such_module', 'sndhdr_too')\n"
        "[thread.join() for thread in threading.enumerate() if thread.name == 'ahead']\n"
        "assert 'colorsys' in sys.modules\n"
        "try:\n"
        "    import no_such_module\n"
        "except ModuleNotFoundError:\n"
        "    print('told')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("told\n", "")
