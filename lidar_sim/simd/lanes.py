"""The vector type, its operators, and functions of lanes."""

# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False, disallow-untyped-calls=False
# mypy: disallow-untyped-decorators=False, check-untyped-defs=False, disallow-subclassing-any=False

from __future__ import annotations

import operator

from llvmlite import ir
from numba.core import cgutils
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

from lidar_sim.jit import types

I32, I64 = ir.IntType(32), ir.IntType(64)
LLVM = {
    types.float32: ir.FloatType(),
    types.float64: ir.DoubleType(),
    types.int32: I32,
    types.int64: I64,
    types.boolean: ir.IntType(1),
}


class Vec(types.Type):
    """Numba type of a vector: ``dtype`` of a lane and number ``n`` of lanes."""

    def __init__(self, dtype, n):
        self.dtype = dtype
        self.n = n
        super().__init__(name=f"Vec({dtype}, {n})")

    @property
    def key(self):
        """What makes two vector types the same."""
        return (self.dtype, self.n)


@register_model(Vec)
class _VecModel(models.PrimitiveModel):
    def __init__(self, manager, vec):
        super().__init__(manager, vec, ir.VectorType(LLVM[vec.dtype], vec.n))


def _is_float(vec):
    return isinstance(vec.dtype, types.Float)


def _mask_of(vec):
    return Vec(types.boolean, vec.n)


def _lane_numbers(numbers):
    return ir.Constant(ir.VectorType(I32, len(numbers)), list(numbers))


def undefined(vector_type):
    """Vector whose lanes are yet to be filled."""
    return ir.Constant(vector_type, ir.Undefined)


def _splat(builder, value, n):
    vector_type = ir.VectorType(value.type, n)
    first = builder.insert_element(undefined(vector_type), value, ir.Constant(I32, 0))
    return builder.shuffle_vector(first, undefined(vector_type), _lane_numbers([0] * n))


def _operands(vec, *given):
    """Types of an intrinsic's operands: numbers become the type of a lane."""
    return [t if isinstance(t, Vec) else vec.dtype for t in given]


def _vectors(builder, vec, given, values):
    """Values of those operands, numbers splatted."""
    return [v if isinstance(t, Vec) else _splat(builder, v, vec.n) for t, v in zip(given, values, strict=True)]


# ---- operators

_ARITHMETIC = {"add": ("fadd", "add"), "sub": ("fsub", "sub"), "mul": ("fmul", "mul"), "truediv": ("fdiv", None)}
_COMPARISONS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}
_BITWISE = {"and_": "and_", "or_": "or_", "xor": "xor", "lshift": "shl", "rshift": "ashr"}


def _common_vec(a, b):
    """Vector type of a binary operation, or None if it is none of ours."""
    if isinstance(a, Vec):
        return a if a == b or isinstance(b, types.Number) else None
    return b if isinstance(b, Vec) and isinstance(a, types.Number) else None


def _emit(builder, name, vec, x, y):
    if name in _COMPARISONS:
        compare = builder.fcmp_ordered if _is_float(vec) else builder.icmp_signed
        return compare(_COMPARISONS[name], x, y)
    if name in _BITWISE:
        return getattr(builder, _BITWISE[name])(x, y)
    for_float, for_integer = _ARITHMETIC[name]
    return getattr(builder, for_float if _is_float(vec) else for_integer)(x, y)


def _register_binary(function):
    name = function.__name__

    @infer_global(function)
    class _Template(AbstractTemplate):
        def generic(self, args, kws):
            vec = _common_vec(*args) if len(args) == 2 else None
            if vec is None:
                return None
            return signature(_mask_of(vec) if name in _COMPARISONS else vec, *_operands(vec, *args))

    def lower(context, builder, sig, args):
        vec = next(t for t in sig.args if isinstance(t, Vec))
        return _emit(builder, name, vec, *_vectors(builder, vec, sig.args, args))

    for kinds in ((Vec, Vec), (Vec, types.Any), (types.Any, Vec)):
        lower_builtin(function, *kinds)(lower)


for _name in (*_ARITHMETIC, *_COMPARISONS, *_BITWISE):
    _register_binary(getattr(operator, _name))


@infer_global(operator.neg)
class _Negation(AbstractTemplate):
    def generic(self, args, kws):
        return signature(args[0], args[0]) if isinstance(args[0], Vec) else None


@lower_builtin(operator.neg, Vec)
def _lower_negation(context, builder, sig, args):
    return builder.fneg(args[0]) if _is_float(sig.args[0]) else builder.neg(args[0])


# ---- lane by lane


@intrinsic
def where(typing, mask, x, y):
    """X where the mask is set, else y; one of the two may be a number."""
    vec = x if isinstance(x, Vec) else y

    def generate(context, builder, sig, args):
        return builder.select(args[0], *_vectors(builder, vec, sig.args[1:], args[1:]))

    return signature(vec, mask, *_operands(vec, x, y)), generate


def _choice(comparison, doc):
    @intrinsic
    def choose(typing, x, y):
        vec = x if isinstance(x, Vec) else y

        def generate(context, builder, sig, args):
            a, b = _vectors(builder, vec, sig.args, args)
            return builder.select(builder.fcmp_ordered(comparison, a, b), a, b)

        return signature(vec, *_operands(vec, x, y)), generate

    choose.__doc__ = doc
    return choose


minimum = _choice("<", "Smaller of x and y; y where either is NaN.")
maximum = _choice(">", "Larger of x and y; y where either is NaN.")


def _call_llvm(builder, name, *operands):
    """Call an intrinsic of LLVM that exists for all float vectors."""
    vector_type = operands[0].type
    width = "f32" if isinstance(vector_type.element, ir.FloatType) else "f64"
    function_type = ir.FunctionType(vector_type, [vector_type] * len(operands))
    full_name = f"llvm.{name}.v{vector_type.count}{width}"
    return builder.call(cgutils.get_or_insert_function(builder.module, function_type, full_name), operands)


def _float_function(name, doc):

    @intrinsic
    def function(typing, x):
        return signature(x, x), lambda context, builder, sig, args: _call_llvm(builder, name, args[0])

    function.__doc__ = doc
    return function


absolute = _float_function("fabs", "Absolute value.")
square_root = _float_function("sqrt", "Square root; NaN below 0.")


@intrinsic
def fma(typing, x, y, z):
    """X * y + z; any of them may be a number."""
    # llvm.fma would call libm where the machine has no FMA.
    vec = next(t for t in (x, y, z) if isinstance(t, Vec))

    def generate(context, builder, sig, args):
        return _call_llvm(builder, "fmuladd", *_vectors(builder, vec, sig.args, args))

    return signature(vec, *_operands(vec, x, y, z)), generate


def _conversion(dtype, doc):
    @intrinsic
    def convert(typing, x):
        def generate(context, builder, sig, args):
            target = ir.VectorType(LLVM[dtype], x.n)
            if isinstance(x.dtype, types.Integer):
                return builder.sitofp(args[0], target)
            return (builder.fpext if dtype.bitwidth > x.dtype.bitwidth else builder.fptrunc)(args[0], target)

        return signature(Vec(dtype, x.n), x), generate

    convert.__doc__ = doc
    return convert


to_f64 = _conversion(types.float64, "Lanes as f64.")
to_f32 = _conversion(types.float32, "Lanes as f32, rounded to nearest.")


# ---- lanes to and from numbers


def _splatter(n):
    @intrinsic
    def splat(typing, x):
        dtype = types.unliteral(x)
        return signature(Vec(dtype, n), dtype), lambda context, builder, sig, args: _splat(builder, args[0], n)

    splat.__doc__ = f"The same number in {n} lanes, of its own type."
    return splat


splat1, splat8, splat16 = _splatter(1), _splatter(8), _splatter(16)


@intrinsic
def bits(typing, mask):
    """Mask as an int64, lane 0 in the lowest bit."""

    def generate(context, builder, sig, args):
        return builder.zext(builder.bitcast(args[0], ir.IntType(mask.n)), I64)

    return signature(types.int64, mask), generate


@intrinsic
def mask8(typing, number):
    """Mask of 8 lanes from the lowest 8 bits of an integer."""

    def generate(context, builder, sig, args):
        return builder.bitcast(builder.trunc(args[0], ir.IntType(8)), ir.VectorType(ir.IntType(1), 8))

    return signature(Vec(types.boolean, 8), types.int64), generate


def _reduction(comparison, doc):
    @intrinsic
    def reduce(typing, x):
        def generate(context, builder, sig, args):
            value, n = args[0], x.n
            while n > 1:
                n //= 2
                low = builder.shuffle_vector(value, undefined(value.type), _lane_numbers(range(n)))
                high = builder.shuffle_vector(value, undefined(value.type), _lane_numbers(range(n, 2 * n)))
                value = builder.select(builder.fcmp_ordered(comparison, low, high), low, high)
            return builder.extract_element(value, ir.Constant(I32, 0))

        return signature(x.dtype, x), generate

    reduce.__doc__ = doc
    return reduce


lowest = _reduction("<", "Smallest lane, as a number.")
highest = _reduction(">", "Largest lane, as a number.")


def _bit_function(name, extra, doc):
    @intrinsic
    def function(typing, x):
        def generate(context, builder, sig, args):
            flags = [ir.Constant(ir.IntType(1), 1)] * extra
            function_type = ir.FunctionType(I64, [I64, *(flag.type for flag in flags)])
            callee = cgutils.get_or_insert_function(builder.module, function_type, f"llvm.{name}.i64")
            return builder.call(callee, [args[0], *flags])

        return signature(types.int64, types.int64), generate

    function.__doc__ = doc
    return function


lowest_bit = _bit_function("cttz", 1, "Number of the lowest set bit of an integer that is not 0.")
count_bits = _bit_function("ctpop", 0, "How many bits of an integer are set.")


def shuffle(*order):
    """Kernel function that gives the lanes of a vector in this order of lane numbers."""

    @intrinsic
    def shuffled(typing, v):
        def generate(context, builder, sig, args):
            return builder.shuffle_vector(args[0], undefined(args[0].type), _lane_numbers(order))

        return signature(Vec(v.dtype, len(order)), v), generate

    return shuffled


def constant_f64(*values):
    """Kernel function without arguments that gives a vector of these f64 values."""

    @intrinsic
    def constant(typing):
        vector = ir.Constant(ir.VectorType(ir.DoubleType(), len(values)), [float(value) for value in values])
        return signature(Vec(types.float64, len(values))), lambda context, builder, sig, args: vector

    return constant
