"""What the object file has beside kernels, in LLVM's language: the ways to CPython's functions, and to memory.

And where the fields of CPython's and numpy's objects are.
"""

from __future__ import annotations

#: words that the loader fills: addresses of objects, and of a function of numpy
KNOWN = (
    "ndarray", "float64", "int64", "uint8", "bool_", "float", "int", "tuple", "bool", "None", "SystemError", "False",
    "True", "bytes", "PyArray_New",
)  # fmt: skip

#: where fields are on 64 bits: of any object its type; of an array, alike in every numpy since 1.7
TYPE, DATA, NDIM, SHAPE, DESCR, FLAGS = 8, 16, 24, 32, 56, 64
PLAIN = 0x1 | 0x100  #: flags of an array: contiguous, and aligned
SIZE, FLOAT = 16, 16  #: how many items a tuple or bytes have, and the number of a float
TUPLE, BYTES = 24, 32  #: where the items of a tuple and of bytes begin

_ENTRIES = """
declare i8* @PyFloat_FromDouble(double)
declare i8* @PyLong_FromLongLong(i64)
declare i8* @PyBool_FromLong(i64)
declare i64 @PyLong_AsLongLong(i8*)
declare double @PyFloat_AsDouble(i8*)
declare i32 @PyObject_IsTrue(i8*)
declare i8* @PyErr_Occurred()
declare void @PyErr_SetString(i8*, i8*)
declare i8* @PyEval_SaveThread()
declare void @PyEval_RestoreThread(i8*)
declare i8* @PyTuple_New(i64)
declare i32 @PyTuple_SetItem(i8*, i64, i8*)
declare i8* @PyTuple_GetItem(i8*, i64)
declare i64 @PyTuple_Size(i8*)
declare i32 @PyType_IsSubtype(i8*, i8*)
declare i8* @PyObject_CallObject(i8*, i8*)
declare void @Py_IncRef(i8*)
declare void @Py_DecRef(i8*)
@gjk3d.known = internal global [COUNT x i8*] zeroinitializer
@gjk3d.failed = internal constant [31 x i8] c"gjk3d: a kernel ended in error\\00"
define i8** @gjk3d_known_words_NUMBER() {
  %p = getelementptr [COUNT x i8*], [COUNT x i8*]* @gjk3d.known, i64 0, i64 0
  ret i8** %p
}
define internal i8* @gjk3d.otherwise(i8* %self, i8** %args, i64 %nargs) noinline {
entry:
  %all = call i8* @PyTuple_New(i64 %nargs)
  %none = icmp eq i8* %all, null
  br i1 %none, label %end, label %loop
loop:
  %i = phi i64 [0, %entry], [%i1, %next]
  %more = icmp slt i64 %i, %nargs
  br i1 %more, label %next, label %call
next:
  %ap = getelementptr i8*, i8** %args, i64 %i
  %a = load i8*, i8** %ap
  call void @Py_IncRef(i8* %a)
  %set = call i32 @PyTuple_SetItem(i8* %all, i64 %i, i8* %a)
  %i1 = add i64 %i, 1
  br label %loop
call:
  %answer = call i8* @PyObject_CallObject(i8* %self, i8* %all)
  call void @Py_DecRef(i8* %all)
  ret i8* %answer
end:
  ret i8* null
}
"""

#: what `gjk3d._kernels.cpython` declares
_BUILTINS = """
declare i8* @PyObject_Vectorcall(i8*, i8**, i64, i8*)
declare i8* @PyBytes_FromStringAndSize(i8*, i64)
declare i8* @PyType_GenericAlloc(i8*, i64)
define i64 @gjk3d_word(i64 %address) alwaysinline {
  %p = inttoptr i64 %address to i64*
  %v = load i64, i64* %p
  ret i64 %v
}
define i64 @gjk3d_half(i64 %address) alwaysinline {
  %p = inttoptr i64 %address to i32*
  %v = load i32, i32* %p
  %w = sext i32 %v to i64
  ret i64 %w
}
define double @gjk3d_number(i64 %address) alwaysinline {
  %p = inttoptr i64 %address to double*
  %v = load double, double* %p
  ret double %v
}
define void @gjk3d_put(i64 %address, i64 %value) alwaysinline {
  %p = inttoptr i64 %address to i64*
  store i64 %value, i64* %p
  ret void
}
define i64 @gjk3d_known(i64 %k) alwaysinline {
  %p = getelementptr [COUNT x i8*], [COUNT x i8*]* @gjk3d.known, i64 0, i64 %k
  %a = load i8*, i8** %p
  %v = ptrtoint i8* %a to i64
  ret i64 %v
}
define i64 @gjk3d_keep(i64 %thing) alwaysinline {
  %p = inttoptr i64 %thing to i8*
  call void @Py_IncRef(i8* %p)
  ret i64 %thing
}
define void @gjk3d_drop(i64 %thing) alwaysinline {
  %p = inttoptr i64 %thing to i8*
  call void @Py_DecRef(i8* %p)
  ret void
}
define i64 @gjk3d_call(i64 %function, i64 %args, i64 %nargs, i64 %names) alwaysinline {
  %f = inttoptr i64 %function to i8*
  %a = inttoptr i64 %args to i8**
  %n = inttoptr i64 %names to i8*
  %r = call i8* @PyObject_Vectorcall(i8* %f, i8** %a, i64 %nargs, i8* %n)
  %v = ptrtoint i8* %r to i64
  ret i64 %v
}
define i64 @gjk3d_call_with(i64 %function, i64 %first, i64 %args, i64 %nargs, i64 %names) noinline {
entry:
  %has = icmp ne i64 %names, 0
  br i1 %has, label %named, label %copy
named:
  %tuple = inttoptr i64 %names to i8*
  %named.count = call i64 @PyTuple_Size(i8* %tuple)
  br label %copy
copy:
  %more = phi i64 [0, %entry], [%named.count, %named]
  %count = add i64 %nargs, %more
  %size = add i64 %count, 1
  %room = alloca i64, i64 %size
  store i64 %first, i64* %room
  %from = inttoptr i64 %args to i64*
  br label %loop
loop:
  %i = phi i64 [0, %copy], [%i1, %next]
  %go = icmp slt i64 %i, %count
  br i1 %go, label %next, label %call
next:
  %fp = getelementptr i64, i64* %from, i64 %i
  %v = load i64, i64* %fp
  %i1 = add i64 %i, 1
  %tp = getelementptr i64, i64* %room, i64 %i1
  store i64 %v, i64* %tp
  br label %loop
call:
  %given = ptrtoint i64* %room to i64
  %n1 = add i64 %nargs, 1
  %r = call i64 @gjk3d_call(i64 %function, i64 %given, i64 %n1, i64 %names)
  ret i64 %r
}
define i64 @gjk3d_replaced(i64 %tuple, i64 %which, i64 %item) {
entry:
  %from = inttoptr i64 %tuple to i8*
  %new = inttoptr i64 %item to i8*
  %count = call i64 @PyTuple_Size(i8* %from)
  %made = call i8* @PyTuple_New(i64 %count)
  %failed = icmp eq i8* %made, null
  br i1 %failed, label %end, label %loop
loop:
  %i = phi i64 [0, %entry], [%i1, %next]
  %more = icmp slt i64 %i, %count
  br i1 %more, label %next, label %end
next:
  %old = call i8* @PyTuple_GetItem(i8* %from, i64 %i)
  %here = icmp eq i64 %i, %which
  %each = select i1 %here, i8* %new, i8* %old
  call void @Py_IncRef(i8* %each)
  %set = call i32 @PyTuple_SetItem(i8* %made, i64 %i, i8* %each)
  %i1 = add i64 %i, 1
  br label %loop
end:
  %v = ptrtoint i8* %made to i64
  ret i64 %v
}
define i64 @gjk3d_bytes(i64 %size) alwaysinline {
  %r = call i8* @PyBytes_FromStringAndSize(i8* null, i64 %size)
  %v = ptrtoint i8* %r to i64
  ret i64 %v
}
define i64 @gjk3d_object(i64 %type) alwaysinline {
  %t = inttoptr i64 %type to i8*
  %r = call i8* @PyType_GenericAlloc(i8* %t, i64 0)
  %v = ptrtoint i8* %r to i64
  ret i64 %v
}
define i64 @gjk3d_float(i64 %address) alwaysinline {
  %p = inttoptr i64 %address to double*
  %d = load double, double* %p
  %r = call i8* @PyFloat_FromDouble(double %d)
  %v = ptrtoint i8* %r to i64
  ret i64 %v
}
define i64 @gjk3d_int(i64 %value) alwaysinline {
  %r = call i8* @PyLong_FromLongLong(i64 %value)
  %v = ptrtoint i8* %r to i64
  ret i64 %v
}
define i64 @gjk3d_vector(i64 %address) {
entry:
  %dimensions = alloca i64
  store i64 3, i64* %dimensions
  %np = getelementptr [COUNT x i8*], [COUNT x i8*]* @gjk3d.known, i64 0, i64 NEW_ARRAY
  %n = load i8*, i8** %np
  %new = bitcast i8* %n to i8* (i8*, i32, i64*, i32, i64*, i8*, i32, i32, i8*)*
  %tp = getelementptr [COUNT x i8*], [COUNT x i8*]* @gjk3d.known, i64 0, i64 NDARRAY
  %t = load i8*, i8** %tp
  %r = call i8* %new(i8* %t, i32 1, i64* %dimensions, i32 12, i64* null, i8* null, i32 0, i32 0, i8* null)
  %failed = icmp eq i8* %r, null
  br i1 %failed, label %end, label %fill
fill:
  %fields = getelementptr i8, i8* %r, i64 16
  %dp = bitcast i8* %fields to double**
  %to = load double*, double** %dp
  %from = inttoptr i64 %address to double*
  %a = load double, double* %from
  store double %a, double* %to
  %f1 = getelementptr double, double* %from, i64 1
  %t1 = getelementptr double, double* %to, i64 1
  %b = load double, double* %f1
  store double %b, double* %t1
  %f2 = getelementptr double, double* %from, i64 2
  %t2 = getelementptr double, double* %to, i64 2
  %c = load double, double* %f2
  store double %c, double* %t2
  br label %end
end:
  %v = ptrtoint i8* %r to i64
  ret i64 %v
}
"""

_PLACES = {"COUNT": len(KNOWN), "NEW_ARRAY": KNOWN.index("PyArray_New"), "NDARRAY": KNOWN.index("ndarray")}


WORDS = "gjk3d_known_words_"  #: how the symbol of the function that returns the address of an object's words begins


def head(number: int) -> str:
    """Return the text that every object has, of the object of a group by the number of the group."""
    text = (_ENTRIES + _BUILTINS).replace("NUMBER", str(number))
    for name, number in _PLACES.items():
        text = text.replace(name, str(number))
    return text
