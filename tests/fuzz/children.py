"""Cases in a child process, with a limit of memory and of time: what kills it kills nothing else."""

import faulthandler
import json
import os
import resource
import signal
import traceback

import torch

MEMORY = 2 * 2**30  # bytes, beyond what the process has when it is forked
SECONDS = 30  # for a case
MISTAKE = 70  # exit status of a child in which the fuzzer fails


def outcomes(run, numbers):
    """Yield (number, word, text) of ``run(number)`` for each number, run in children one after another.

    Where a child dies the next one goes on behind.
    """
    numbers = list(numbers)
    while numbers:
        reader, writer = os.pipe()
        child = os.fork()
        if not child:
            os.close(reader)
            _work(run, numbers, writer)
        os.close(writer)
        with open(reader, encoding="utf-8") as lines:
            for line in lines:
                yield numbers.pop(0), *json.loads(line)
        _, status = os.waitpid(child, 0)
        if status:
            number = os.waitstatus_to_exitcode(status)
            if number == MISTAKE:
                raise RuntimeError(f"the fuzzer itself failed, in case {numbers[0]}")
            if number == -signal.SIGALRM:
                yield numbers.pop(0), "hang", f"took more than {SECONDS} s"
            else:
                yield numbers.pop(0), "crash", f"the process ended with {number}"


def _work(run, numbers, writer):
    """Run cases and write what became of them; never returns."""
    status = MISTAKE
    faulthandler.disable()  # a crash is told in a line
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            own = int(file.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (own + MEMORY,) * 2)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        torch.set_num_threads(1)  # a child lacks the others of its parent
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        for number in numbers:
            signal.alarm(SECONDS)
            outcome = run(number)
            signal.alarm(0)
            os.write(writer, (json.dumps(outcome) + "\n").encode())
        status = 0
    except BaseException:
        traceback.print_exc()
        raise
    finally:
        os._exit(status)
