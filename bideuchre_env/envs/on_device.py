"""Actions that are given to a device: what is there already stays there, the rest is brought."""

from __future__ import annotations

from typing import Any

from bideuchre_env._checks import shown, whole_numbers
from bideuchre_env.errors import IllegalActionError
from bideuchre_env.runtime.device import DeviceArray, on_device, to_device, to_host


def actions_there(given: Any, n: int, n_actions: int) -> DeviceArray:
    """Actions on the device, whole numbers (n,); whether they are legal is not asked."""
    try:
        array = on_device(given)
    except Exception as error:  # whatever an object's own conversion raises
        raise IllegalActionError(f"actions {shown(given)}: no array ({error})") from None
    if array is None:
        return to_device(whole_numbers("actions", given, n, n_actions))
    if tuple(array.shape) != (n,) or array.dtype.kind not in "iu":
        raise IllegalActionError(
            f"actions: whole numbers of shape ({n},) are expected, not {array.dtype} of "
            f"shape {tuple(array.shape)}"
        )
    return array


def action_given(given: Any, row: int) -> int:
    """The action that was given for a row."""
    array = on_device(given)
    return int(given[row] if array is None else to_host(array[row : row + 1])[0])
