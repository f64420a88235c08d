"""`PolicyGraph`: a network as a list of array operations, run by numpy and stored without code.

`torch.export` reduces a module of any library to such operations. Those of the usual policies are
supported: linear layers, activations, layer norms, residual and concatenated connections.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from bideuchre_env._checks import brief, is_number, is_whole
from bideuchre_env.errors import OptionError
from bideuchre_env.runtime.jit import Array

MOST_STEPS = 1000
OTHERWISE = "Any other network plays from its own file, as ./file.py:Agent"
MOST_UNITS = 1 << 16
"""Maximum width of a value."""


def _linear(inputs: Array, weight: Array, bias: Any = None) -> Array:
    _check(weight.ndim == 2 and weight.shape[1] == inputs.shape[1])
    _check(bias is None or bias.shape == weight.shape[:1])
    return inputs @ weight.T + (0 if bias is None else bias)


def _layer_norm(
    inputs: Array, shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5, *_: Any
) -> Array:
    width = inputs.shape[1]
    _check(shape == [width] and all(p is None or p.shape == (width,) for p in (weight, bias)))
    centred = inputs - inputs.mean(axis=1, keepdims=True)
    normal = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + eps)
    return normal * (1 if weight is None else weight) + (0 if bias is None else bias)


def _concatenate(values: list[Array], axis: int = 0) -> Array:
    _check(axis in (1, -1) and sum(value.shape[1] for value in values) <= MOST_UNITS)
    return np.concatenate(values, axis=1)


def _elementwise(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of two values of the same shape, or of one and an array of its width."""

    def call(left: Any, right: Any) -> Any:
        shapes = sorted((np.shape(each) for each in (left, right)), key=len)
        _check(shapes[0] in ((), shapes[1], shapes[1][1:]))
        return function(left, right)

    return call


def _sigmoid(inputs: Array) -> Array:
    return 0.5 * (1 + np.tanh(0.5 * inputs))


def _elu(inputs: Array, alpha: float = 1.0) -> Array:
    return np.where(inputs > 0, inputs, alpha * np.expm1(np.minimum(inputs, 0)))


OPERATIONS: dict[str, Callable[..., Any]] = {
    "linear": _linear,
    "layer_norm": _layer_norm,
    "cat": _concatenate,
    "relu": lambda inputs: np.maximum(inputs, 0),
    "leaky_relu": lambda inputs, slope=0.01: np.where(inputs > 0, inputs, slope * inputs),
    "elu": _elu,
    "tanh": lambda inputs: np.tanh(inputs),
    "sigmoid": _sigmoid,
    "silu": lambda inputs: inputs * _sigmoid(inputs),
    "add": _elementwise(np.add),
    "sub": _elementwise(np.subtract),
    "mul": _elementwise(np.multiply),
    "div": _elementwise(np.divide),
}
"""Operations by their names in torch, with its order of arguments."""
_COPIES = {"dropout", "alias", "clone", "contiguous", "detach", "to", "_to_copy"}
"""Operations of a module in evaluation mode that return their first argument."""


@dataclass(frozen=True, eq=False)
class PolicyGraph:
    """The operations of a network, in order, and its arrays by name.

    A step is a list `[operation, arguments]`. An argument is a number, a bool, None, a list of
    arguments, `{"value": i}` for the result of step `i - 1` (0: the inputs), or `{"array": name}`.
    """

    steps: list[Any]
    arrays: Mapping[str, Array]

    def __call__(self, inputs: Array) -> Array:
        """Return the outputs, float32 (n, O), for inputs, float32 (n, I)."""
        values = [inputs]
        for name, arguments in self.steps:
            value = OPERATIONS[name](*(self._resolved(each, values) for each in arguments))
            values.append(value.astype(np.float32, copy=False))
        return values[-1]

    def _resolved(self, argument: Any, values: list[Array]) -> Any:
        if isinstance(argument, list):
            return [self._resolved(each, values) for each in argument]
        if not isinstance(argument, dict):
            return argument
        [(kind, key)] = argument.items()
        return values[key] if kind == "value" else self.arrays[key]

    def check(self, inputs: int, outputs: int) -> None:
        """Raise `ValueError` unless the graph maps `inputs` numbers to `outputs` numbers."""
        if not isinstance(self.steps, list) or len(self.steps) > MOST_STEPS:
            raise ValueError(f"expected a list of at most {MOST_STEPS} steps")
        for i, step in enumerate(self.steps):
            if not (isinstance(step, list) and len(step) == 2 and isinstance(step[1], list)):
                raise ValueError(f"step {i}: expected an operation and its arguments")
            if not isinstance(step[0], str) or step[0] not in OPERATIONS:
                raise ValueError(f"step {i}: no operation {brief(step[0])}")
            for argument in step[1]:
                self._check_argument(argument, i)
        for n in (2, 3):  # no array of the file may stand for a batch
            try:
                with np.errstate(all="ignore"):
                    shape = np.shape(self(np.zeros((n, inputs), np.float32)))
            except (TypeError, AttributeError, IndexError) as error:
                raise ValueError(f"arguments of wrong types: {error}") from None
            if shape != (n, outputs):
                raise ValueError(f"outputs of shape {list(shape)}: expected {[n, outputs]}")

    def _check_argument(self, argument: Any, step: int) -> None:
        if isinstance(argument, list) and len(argument) <= MOST_STEPS:
            for each in argument:
                _check(not isinstance(each, list))
                self._check_argument(each, step)
        elif isinstance(argument, dict) and len(argument) == 1:
            [(kind, key)] = argument.items()
            is_value = kind == "value" and is_whole(key) and 0 <= key <= step
            _check(is_value or (kind == "array" and isinstance(key, str) and key in self.arrays))
        else:
            _check(argument is None or isinstance(argument, bool) or is_number(argument))


def _check(fits: bool) -> None:
    """Raise `ValueError` unless the arguments fit; so no file can make arrays without limit."""
    if not fits:
        raise ValueError("arguments that do not fit the operation")


def graph_of(network: Any, inputs: int) -> PolicyGraph:
    """Return the graph of a torch module from float32 (n, inputs) to (n, O).

    Raises `OptionError` if torch cannot export the module, or for an operation that is not in
    `OPERATIONS`.
    """
    import torch
    import torch.export

    first = next(network.parameters(), torch.zeros(0))
    rows = {0: torch.export.Dim("rows", min=1)}
    with evaluating(network):
        example = torch.zeros(2, inputs, device=first.device)
        alone = torch.nn.Sequential(network)  # a network may have other parameters too
        try:
            program = torch.export.export(alone, (example,), dynamic_shapes=(rows,))
        except Exception as error:  # torch raises errors of many types
            line = (str(error).splitlines() or [type(error).__name__])[0]
            raise OptionError(f"policy: torch cannot export the network: {line}") from None
        graph = _converted(program)
        _compare(graph, network, inputs, first.device)
    return graph


def _compare(graph: PolicyGraph, network: Any, inputs: int, device: Any) -> None:
    """Raise `OptionError` unless a graph has the outputs of its network for random inputs."""
    import torch

    rows = np.random.default_rng(1).random((8, inputs), np.float32)
    with torch.no_grad():
        expected = network(torch.from_numpy(rows).to(device)).cpu().numpy()
    try:
        actual = graph(rows)
        is_equal = actual.shape == expected.shape and np.allclose(actual, expected, 1e-3, 1e-3)
    except (ValueError, TypeError, AttributeError, IndexError):
        is_equal = False
    if not is_equal:
        raise OptionError(
            "policy: its operations were not exported rightly, perhaps because the network changes "
            f"values in place. {OTHERWISE}"
        )


def _converted(program: Any) -> PolicyGraph:
    """Return the graph of an `ExportedProgram`."""
    signature = program.graph_signature
    tensors = {**program.state_dict, **program.constants}
    stored = {
        **signature.inputs_to_parameters,
        **signature.inputs_to_buffers,
        **signature.inputs_to_lifted_tensor_constants,
    }
    arguments: dict[str, Any] = {name: {"array": key} for name, key in stored.items()}
    arguments[signature.user_inputs[0]] = {"value": 0}
    steps: list[Any] = []

    def converted(argument: Any) -> Any:
        if isinstance(argument, (list, tuple)):
            return [converted(each) for each in argument]
        name = getattr(argument, "name", None)
        return argument if name is None else arguments[name]

    for node in program.graph.nodes:
        if node.op != "call_function":
            continue
        name = str(node.target).split(".")[1] if "." in str(node.target) else str(node.target)
        in_place = name.endswith("_")
        name = name.rstrip("_")
        if name in _COPIES or (name == "flatten" and node.args[1:2] == (1,)):
            arguments[node.name] = converted(node.args[0])
            continue
        if name not in OPERATIONS or node.kwargs:
            raise OptionError(
                f"policy: the network computes {node.target}: expected operations among "
                f"{', '.join(OPERATIONS)}. {OTHERWISE}"
            )
        steps.append([name, [converted(each) for each in node.args]])
        arguments[node.name] = {"value": len(steps)}
        if in_place:
            arguments[node.args[0].name] = arguments[node.name]
    *_, output = program.graph.nodes
    result = converted(output.args[0])
    if len(result) != 1 or not isinstance(result[0], dict) or "value" not in result[0]:
        raise OptionError(f"policy: {len(result)} outputs: expected one tensor of logits")
    used = {key: tensors[key].detach().cpu().numpy() for key in stored.values()}
    return PolicyGraph(steps[: result[0]["value"]], used)


@contextmanager
def evaluating(network: Any) -> Iterator[None]:
    """Context manager: set a torch module to evaluation mode, and restore all modes at the end."""
    modes = {module: module.training for module in network.modules()}
    if any(modes.values()):
        network.train(False)
    try:
        yield
    finally:
        for module, training in modes.items():
            module.training = training
