"""Every testable requirement is judged by a law and made observable by a probe."""

import pytest

import spec
from conformance.coverage import unjudged


@pytest.mark.parametrize("name", spec.profile_names())
def test_nothing_testable_goes_unjudged(name):
    assert unjudged(spec.load_profile(name)) == []


def test_a_requirement_without_a_law_or_a_probe_is_named(cli):
    done = cli("list", "--profile", "ark", "--unjudged")
    assert done.returncode == 0
    assert "0 requirements" in done.stdout
