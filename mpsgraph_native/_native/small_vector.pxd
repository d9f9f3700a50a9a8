cdef extern from "runtime/small_vector.hpp" namespace "mpsgraph_native" nogil:
    cdef cppclass SmallVector[T]:
        SmallVector()
        void push_back(T) except +MemoryError
        size_t size() const
        T* data()
        T& operator[](size_t)
