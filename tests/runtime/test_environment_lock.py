"""After Ctrl-C at any line of a step, the environment can still be stepped."""

import inspect
import sys

import bideuchre_env


class InterruptAt:
    """A trace function that raises KeyboardInterrupt before the n-th line of a function, once.

    Lines that begin with a text of `spared` are left out: Python checks for no signal there.
    """

    def __init__(self, code, n, *spared):
        self.code, self.left, self.raised = code, n, False
        lines, first = inspect.getsourcelines(code)
        self.spared = [first + i for i, line in enumerate(lines) if line.strip().startswith(spared)]
        assert len(self.spared) == len(spared)

    def __call__(self, frame, event, _):
        if frame.f_code is not self.code:
            return None
        if event == "line" and frame.f_lineno not in self.spared:
            self.left -= 1
            if self.left == 0:
                self.raised = True
                raise KeyboardInterrupt
        return self


def test_ctrl_c_at_any_line_of_a_step_keeps_the_environment_usable():
    vec = bideuchre_env.cincinnati_v0.vec(3)
    vec.reset(seed=1)
    code, outer = type(vec).step.__code__, sys.gettrace()
    assert code.co_name == "guarded"
    for n in range(1, 100):
        interrupt = InterruptAt(code, n, "if entered:", "alone.free = True")
        sys.settrace(interrupt)
        try:
            vec.step(vec.action_masks().argmax(axis=1))
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(outer)
        assert vec._alone.free
        vec.step(vec.action_masks().argmax(axis=1))
        if not interrupt.raised:
            break
    assert n > 4
