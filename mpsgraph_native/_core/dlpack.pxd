from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

# The DLPack ABI (dlpack.h 1.0): host memory alone.
cdef extern from *:
    """
    #ifndef MPSGRAPH_NATIVE_DLPACK
    #define MPSGRAPH_NATIVE_DLPACK
    #include <stdint.h>
    typedef struct { int32_t device_type; int32_t device_id; } MPSGraphDLDevice;
    typedef struct { uint8_t code; uint8_t bits; uint16_t lanes; } MPSGraphDLDataType;
    typedef struct {
      void* data; MPSGraphDLDevice device; int32_t ndim; MPSGraphDLDataType dtype;
      int64_t* shape; int64_t* strides; uint64_t byte_offset;
    } MPSGraphDLTensor;
    typedef struct MPSGraphDLManagedTensor {
      MPSGraphDLTensor dl_tensor; void* manager_ctx; void (*deleter)(struct MPSGraphDLManagedTensor*);
    } MPSGraphDLManagedTensor;
    typedef struct { uint32_t major; uint32_t minor; } MPSGraphDLVersion;
    typedef struct MPSGraphDLManagedTensorVersioned {
      MPSGraphDLVersion version; void* manager_ctx; void (*deleter)(struct MPSGraphDLManagedTensorVersioned*);
      uint64_t flags; MPSGraphDLTensor dl_tensor;
    } MPSGraphDLManagedTensorVersioned;
    #endif
    """
    ctypedef struct DLDevice "MPSGraphDLDevice":
        int32_t device_type
        int32_t device_id
    ctypedef struct DLDataType "MPSGraphDLDataType":
        uint8_t code
        uint8_t bits
        uint16_t lanes
    ctypedef struct DLTensor "MPSGraphDLTensor":
        void* data
        DLDevice device
        int32_t ndim
        DLDataType dtype
        int64_t* shape
        int64_t* strides
        uint64_t byte_offset
    ctypedef struct DLManagedTensor "MPSGraphDLManagedTensor":
        DLTensor dl_tensor
        void* manager_ctx
        void (*deleter)(DLManagedTensor*) noexcept
    ctypedef struct DLVersion "MPSGraphDLVersion":
        uint32_t major
        uint32_t minor
    ctypedef struct DLManagedTensorVersioned "MPSGraphDLManagedTensorVersioned":
        DLVersion version
        void* manager_ctx
        void (*deleter)(DLManagedTensorVersioned*) noexcept
        uint64_t flags
        DLTensor dl_tensor

cdef enum:
    DEVICE_CPU = 1  # kDLCPU
    CODE_BFLOAT = 4  # kDLBfloat

cdef object import_dlpack(object value, str where)
