"""Four numbers that a processor works on at once.

The compiler vectorises a loop over arrays, but goes to memory in each round. A product of matrices wants
its sums to stay in registers: for that, kernels use the values of `load` and `spread`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, models, register_model

N_LANES = 4

_VECTOR = ir.VectorType(ir.DoubleType(), N_LANES)


class _Lanes(types.Type):
    def __init__(self) -> None:
        super().__init__(name="Lanes")


_LANES = _Lanes()


@register_model(_Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _VECTOR)


def _place(context, builder, kind, array, index):
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [index]), _VECTOR.as_pointer())


def _lane_by_lane(instruction: Callable[..., Any]) -> Callable[..., Any]:
    """What numba wants for an instruction (builder, *lanes) -> lanes."""
    return lambda context, builder, signature, lanes: instruction(builder, *lanes)  # noqa: ARG005


@intrinsic
def load(typing_context, array, index):  # noqa: ARG001
    """Numbers of a contiguous array from an index on, as if it had one axis."""

    def generate(context, builder, signature, arguments):
        return builder.load(_place(context, builder, signature.args[0], *arguments), align=8)

    return _LANES(array, types.uint64), generate


@intrinsic
def store(typing_context, array, index, lanes):  # noqa: ARG001
    """Write to a contiguous array from an index on, as if it had one axis."""

    def generate(context, builder, signature, arguments):
        *target, value = arguments
        builder.store(value, _place(context, builder, signature.args[0], *target), align=8)
        return context.get_dummy_value()

    return types.void(array, types.uint64, _LANES), generate


@intrinsic
def spread(typing_context, number):  # noqa: ARG001
    """One number in all lanes."""

    def fill(builder, number):
        lanes = ir.Constant(_VECTOR, ir.Undefined)
        for lane in range(N_LANES):
            lanes = builder.insert_element(lanes, number, ir.IntType(32)(lane))
        return lanes

    return _LANES(types.float64), _lane_by_lane(fill)


@intrinsic
def add(typing_context, one, other):  # noqa: ARG001
    """Add in each lane."""
    return _LANES(_LANES, _LANES), _lane_by_lane(lambda builder, a, b: builder.fadd(a, b))


@intrinsic
def add_product(typing_context, one, other, total):  # noqa: ARG001
    """``total`` plus a product, rounded once where the processor can."""

    def fused(builder, one, other, total):
        product = builder.fmul(one, other, flags=("contract",))
        return builder.fadd(total, product, flags=("contract",))

    return _LANES(_LANES, _LANES, _LANES), _lane_by_lane(fused)


@intrinsic
def where_less(typing_context, one, other, then, otherwise):  # noqa: ARG001
    """Lanes of ``then`` where one is less than the other, else of ``otherwise``."""

    def choose(builder, one, other, then, otherwise):
        return builder.select(builder.fcmp_ordered("<", one, other), then, otherwise)

    return _LANES(_LANES, _LANES, _LANES, _LANES), _lane_by_lane(choose)
