"""Loads, stores and stack memory by address."""
# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False, disallow-untyped-calls=False
# mypy: disallow-untyped-decorators=False, check-untyped-defs=False, disallow-subclassing-any=False

from __future__ import annotations

from llvmlite import ir
from numba.core import cgutils
from numba.core.typing.templates import signature
from numba.extending import intrinsic

from lidar_sim.jit import types
from lidar_sim.simd.lanes import I32, I64, LLVM, Vec, undefined


@intrinsic
def address(typing, array):
    """Address of the first element of an array, int64."""

    def generate(context, builder, sig, args):
        return builder.ptrtoint(context.make_array(sig.args[0])(context, builder, args[0]).data, I64)

    return signature(types.int64, array), generate


def stack_memory(size):
    """Kernel function that gives the address of ``size`` bytes on the caller's stack, aligned for vectors."""

    @intrinsic
    def allocate(typing):
        def generate(context, builder, sig, args):
            with builder.goto_entry_block():
                memory = builder.alloca(ir.ArrayType(ir.IntType(8), size))
                memory.align = 64
            return builder.ptrtoint(memory, I64)

        return signature(types.int64), generate

    return allocate


def _element(builder, base, index, element_type):
    return builder.gep(builder.inttoptr(base, element_type.as_pointer()), [index])


def _loader(dtype, n):
    """Load of n lanes, or of one number where n is 0."""
    result = Vec(dtype, n) if n else dtype

    @intrinsic
    def load(typing, base, index):
        def generate(context, builder, sig, args):
            place = _element(builder, args[0], args[1], LLVM[dtype])
            if n:
                place = builder.bitcast(place, ir.VectorType(LLVM[dtype], n).as_pointer())
            value = builder.load(place)
            value.align = dtype.bitwidth // 8
            return value

        return signature(result, types.int64, types.int64), generate

    load.__doc__ = f"{n or 'One'} {dtype} from element ``index`` onwards of an array at address ``base``."
    return load


load_f32, load8_f32, load16_f32 = (_loader(types.float32, n) for n in (0, 8, 16))
load_f64, load8_f64, load16_f64 = (_loader(types.float64, n) for n in (0, 8, 16))
load_i32, load8_i32, load16_i32 = (_loader(types.int32, n) for n in (0, 8, 16))
load_i64 = _loader(types.int64, 0)


@intrinsic
def store(typing, base, index, value):
    """Store lanes, or one number, from element ``index`` onwards; the value's own type is that of the array."""
    stored = types.unliteral(value)
    dtype = stored.dtype if isinstance(stored, Vec) else stored

    def generate(context, builder, sig, args):
        place = _element(builder, args[0], args[1], LLVM[dtype])
        if isinstance(stored, Vec):
            place = builder.bitcast(place, args[2].type.as_pointer())
        builder.store(args[2], place).align = dtype.bitwidth // 8
        return context.get_dummy_value()

    return signature(types.none, types.int64, types.int64, stored), generate


@intrinsic
def gather8_f64(typing, base, numbers):
    """Eight f64 from the elements named by a vector of eight i32, all of them not negative."""

    def generate(context, builder, sig, args):
        value = undefined(ir.VectorType(ir.DoubleType(), 8))
        for lane in (ir.Constant(I32, k) for k in range(8)):
            number = builder.zext(builder.extract_element(args[1], lane), I64)
            value = builder.insert_element(
                value, builder.load(_element(builder, args[0], number, ir.DoubleType())), lane
            )
        return value

    return signature(Vec(types.float64, 8), types.int64, numbers), generate


@intrinsic
def prefetch(typing, place):
    """Ask for the cache line at an address; harmless whatever the address."""

    def generate(context, builder, sig, args):
        pointer = ir.IntType(8).as_pointer()
        function_type = ir.FunctionType(ir.VoidType(), [pointer, I32, I32, I32])
        function = cgutils.get_or_insert_function(builder.module, function_type, "llvm.prefetch.p0")
        read, keep, data = (ir.Constant(I32, k) for k in (0, 3, 1))
        builder.call(function, [builder.inttoptr(args[0], pointer), read, keep, data])
        return context.get_dummy_value()

    return signature(types.none, types.int64), generate
