from __future__ import annotations

from pathlib import Path

import pytest

from fairrec.report.page import vega_bundle as module


@pytest.fixture
def cache(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    module.vega_bundle.cache_clear()
    yield tmp_path
    module.vega_bundle.cache_clear()


def kept(cache: Path) -> Path:
    (file,) = (cache / "fairrec").iterdir()
    return file


@pytest.mark.skipif(module.sys.platform != "linux", reason="other caches elsewhere")
def test_the_script_is_kept_and_a_changed_copy_is_not_trusted(cache):
    script = module.vega_bundle()
    assert "</script" not in script.lower()
    whole = kept(cache).read_text("utf-8")
    assert whole.endswith(script)
    for damaged in ("", whole[:-1], whole + "alert(1)", "alert(1)"):
        kept(cache).write_text(damaged, "utf-8")
        module.vega_bundle.cache_clear()
        assert module.vega_bundle() == script
        assert kept(cache).read_text("utf-8") == whole


@pytest.mark.skipif(module.sys.platform != "linux", reason="other caches elsewhere")
def test_without_a_home_there_is_no_cache(monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert module._cache_folder() is None
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "expanduser", lambda path: (_ for _ in ()).throw(RuntimeError()))
    assert module._cache_folder() is None
