"""The measurements that the hostile suite relies on can fail."""

import os

import pytest

from harness import cost


class Spinner:
    """Measures the processor time of this process, as `Server` does for the server."""

    def processor_seconds(self) -> float:
        used = os.times()
        return used.user + used.system


def test_a_block_that_costs_too_much_fails():
    spinner = Spinner()
    with pytest.raises(AssertionError, match="processor time"):
        with cost.costs_at_most(spinner, 0.1):
            begin = spinner.processor_seconds()
            while spinner.processor_seconds() - begin < 0.2 * cost.SLOWNESS + 0.1:
                pass


def test_a_block_that_costs_little_passes():
    with cost.costs_at_most(Spinner(), 0.1):
        pass


def test_memory_of_a_running_server_is_measured(server):
    assert cost.resident_bytes(server) > cost.MIB
    cost.responds(server)
