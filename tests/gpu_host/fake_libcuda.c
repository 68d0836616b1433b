/* A libcuda without a GPU, with the functions that the ctypes driver calls, under the signatures of cuda.h: GPU memory is
   host memory, work is done at once, and what was made and not given back is counted. Tests set faults. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef int Result;
typedef uint64_t Address;
typedef struct Object { const char *kind; } Object;

enum { kOutOfMemory = 2, kNotInitialized = 3, kInvalidContext = 201, kInvalidValue = 1, kNotReady = 600 };

/* What tests read and set. */
int fake_count = 1, fake_major = 9, fake_minor = 0, fake_ready = 1;
int fake_live[8];               /* contexts, current contexts, memory, host memory, locks, modules, streams, events */
int fake_calls;                 /* of all functions */
char fake_fault[64];            /* function that fails, or "*" */
int fake_error;                 /* with which error */
uint32_t fake_grid[6];          /* of the last launch: blocks, then threads */
uint32_t fake_shared;           /* bytes of its dynamic shared memory */
unsigned char fake_argument[256];
uint64_t fake_argument_size;
int fake_limit;                 /* dynamic shared memory that the last function may have */
int fake_priority, fake_priority_calls;
uint64_t fake_total = 1 << 20, fake_used;

enum { kContexts, kCurrent, kMemory, kHost, kLocks, kModules, kStreams, kEvents };

static int initialized;

static Result answer(const char *name) {
    ++fake_calls;
    if (!strcmp(fake_fault, name) || !strcmp(fake_fault, "*")) return fake_error;
    if (!initialized && strcmp(name, "cuInit") && strcmp(name, "cuDriverGetVersion")) return kNotInitialized;
    return 0;
}
/* For what needs a current context. */
static Result inside(const char *name) {
    Result error = answer(name);
    return error ? error : fake_live[kCurrent] > 0 ? 0 : kInvalidContext;
}
static void *made(int kind) {
    Object *object = malloc(sizeof *object);
    object->kind = (const char *)&fake_live[kind];
    ++fake_live[kind];
    return object;
}
static Result given_back(int kind, Object *object) {
    if (object == NULL || object->kind != (const char *)&fake_live[kind]) return kInvalidValue;
    object->kind = NULL;
    free(object);
    --fake_live[kind];
    return 0;
}

#define TRY(check) do { Result error_ = (check); if (error_) return error_; } while (0)

Result cuInit(unsigned flags) { TRY(answer("cuInit")); initialized = flags == 0; return 0; }
Result cuDriverGetVersion(int *version) { TRY(answer("cuDriverGetVersion")); *version = 13000; return 0; }
Result cuGetErrorName(Result error, const char **name) {
    *name = error == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS" : error == 801 ? "CUDA_ERROR_NOT_SUPPORTED" : NULL;
    return *name ? 0 : kInvalidValue;
}
Result cuDeviceGetCount(int *count) { TRY(answer("cuDeviceGetCount")); *count = fake_count; return 0; }
Result cuDeviceGet(int *device, int index) { TRY(answer("cuDeviceGet")); *device = 40 + index; return 0; }
Result cuDeviceGetName(char *name, int room, int device) {
    TRY(answer("cuDeviceGetName"));
    if (device < 40 || room < 9) return kInvalidValue;
    strcpy(name, "Some GPU");
    return 0;
}
Result cuDeviceGetPCIBusId(char *name, int room, int device) {
    TRY(answer("cuDeviceGetPCIBusId"));
    if (device < 40 || room < 13) return kInvalidValue;
    strcpy(name, "0000:01:00.0");
    return 0;
}
Result cuDeviceTotalMem_v2(size_t *bytes, int device) {
    TRY(answer("cuDeviceTotalMem"));
    (void)device;
    *bytes = fake_total;
    return 0;
}
Result cuDeviceGetAttribute(int *value, int attribute, int device) {
    TRY(answer("cuDeviceGetAttribute"));
    (void)device;
    switch (attribute) {
        case 16: *value = 132; return 0;
        case 75: *value = fake_major; return 0;
        case 76: *value = fake_minor; return 0;
        case 81: *value = 233472; return 0;
        case 97: *value = 232448; return 0;
        default: return kInvalidValue;
    }
}
static Object context;
Result cuDevicePrimaryCtxRetain(void **into, int device) {
    TRY(answer("cuDevicePrimaryCtxRetain"));
    if (device < 40) return kInvalidValue;
    ++fake_live[kContexts];
    *into = &context;
    return 0;
}
Result cuDevicePrimaryCtxRelease_v2(int device) {
    ++fake_calls;
    if (device < 40) return kInvalidValue;
    --fake_live[kContexts];
    return 0;
}
Result cuCtxPushCurrent_v2(void *pushed) {
    TRY(answer("cuCtxPushCurrent"));
    if (pushed != &context) return kInvalidValue;
    ++fake_live[kCurrent];
    return 0;
}
Result cuCtxPopCurrent_v2(void **popped) {
    ++fake_calls;
    *popped = &context;
    --fake_live[kCurrent];
    return 0;
}
Result cuCtxSynchronize(void) { return inside("cuCtxSynchronize"); }
Result cuCtxGetStreamPriorityRange(int *least, int *greatest) {
    TRY(inside("cuCtxGetStreamPriorityRange"));
    *least = 0;
    *greatest = -5;
    return 0;
}
Result cuMemGetInfo_v2(size_t *unused, size_t *total) {
    TRY(inside("cuMemGetInfo"));
    *unused = fake_total - fake_used;
    *total = fake_total;
    return 0;
}
Result cuMemAlloc_v2(Address *address, size_t bytes) {
    TRY(inside("cuMemAlloc"));
    if (bytes == 0) return kInvalidValue;
    if (bytes > fake_total - fake_used) return kOutOfMemory;
    uint64_t *whole = NULL;
    if (posix_memalign((void **)&whole, 256, 256 + bytes)) return kOutOfMemory;
    *whole = bytes;
    fake_used += bytes;
    ++fake_live[kMemory];
    *address = (Address)(uintptr_t)whole + 256;
    return 0;
}
Result cuMemFree_v2(Address address) {
    TRY(inside("cuMemFree"));
    uint64_t *whole = (uint64_t *)(uintptr_t)(address - 256);
    fake_used -= *whole;
    --fake_live[kMemory];
    free(whole);
    return 0;
}
Result cuMemAllocHost_v2(void **address, size_t bytes) {
    TRY(inside("cuMemAllocHost"));
    *address = malloc(bytes);
    ++fake_live[kHost];
    return 0;
}
Result cuMemFreeHost(void *address) {
    TRY(inside("cuMemFreeHost"));
    free(address);
    --fake_live[kHost];
    return 0;
}
Result cuMemHostRegister_v2(void *address, size_t bytes, unsigned flags) {
    TRY(inside("cuMemHostRegister"));
    if (!address || !bytes || flags != 1) return kInvalidValue;
    ++fake_live[kLocks];
    return 0;
}
Result cuMemHostUnregister(void *address) {
    TRY(inside("cuMemHostUnregister"));
    if (!address) return kInvalidValue;
    --fake_live[kLocks];
    return 0;
}
Result cuStreamCreate(void **stream, unsigned flags) {
    TRY(inside("cuStreamCreate"));
    if (flags != 1) return kInvalidValue;
    *stream = made(kStreams);
    return 0;
}
Result cuStreamDestroy_v2(void *stream) { return given_back(kStreams, stream); }
Result cuStreamSetAttribute(void *stream, int attribute, const int *value) {
    TRY(inside("cuStreamSetAttribute"));
    if (((Object *)stream)->kind != (const char *)&fake_live[kStreams] || attribute != 8) return kInvalidValue;
    fake_priority = *value;
    ++fake_priority_calls;
    return 0;
}
Result cuMemcpyHtoDAsync_v2(Address into, const void *from, size_t bytes, void *stream) {
    TRY(inside("cuMemcpyHtoDAsync"));
    if (((Object *)stream)->kind != (const char *)&fake_live[kStreams]) return kInvalidValue;
    memcpy((void *)(uintptr_t)into, from, bytes);
    return 0;
}
Result cuMemcpyDtoHAsync_v2(void *into, Address from, size_t bytes, void *stream) {
    TRY(inside("cuMemcpyDtoHAsync"));
    if (((Object *)stream)->kind != (const char *)&fake_live[kStreams]) return kInvalidValue;
    memcpy(into, (const void *)(uintptr_t)from, bytes);
    return 0;
}
Result cuMemsetD8Async(Address into, unsigned char byte, size_t bytes, void *stream) {
    TRY(inside("cuMemsetD8Async"));
    if (((Object *)stream)->kind != (const char *)&fake_live[kStreams]) return kInvalidValue;
    memset((void *)(uintptr_t)into, byte, bytes);
    return 0;
}
Result cuModuleLoadData(void **module, const char *image) {
    TRY(inside("cuModuleLoadData"));
    if (strcmp(image, "sm_90")) return kInvalidValue; /* what the tests' compiler makes; text that ends with a zero */
    *module = made(kModules);
    return 0;
}
Result cuModuleUnload(void *module) { return given_back(kModules, module); }
static Object function;
Result cuModuleGetFunction(void **into, void *module, const char *name) {
    TRY(inside("cuModuleGetFunction"));
    if (((Object *)module)->kind != (const char *)&fake_live[kModules] || strcmp(name, "entry")) return kInvalidValue;
    *into = &function;
    return 0;
}
Result cuFuncGetAttribute(int *value, int attribute, void *of) {
    TRY(inside("cuFuncGetAttribute"));
    if (of != &function || (attribute != 1 && attribute != 4)) return kInvalidValue;
    *value = attribute == 1 ? 1024 : 40;
    return 0;
}
Result cuFuncSetAttribute(void *of, int attribute, int value) {
    TRY(inside("cuFuncSetAttribute"));
    if (of != &function || attribute != 8) return kInvalidValue;
    fake_limit = value;
    return 0;
}
Result cuLaunchKernel(void *of, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                      unsigned shared, void *stream, void **parameters, void **extra) {
    TRY(inside("cuLaunchKernel"));
    if (of != &function || ((Object *)stream)->kind != (const char *)&fake_live[kStreams] || parameters) return kInvalidValue;
    if ((uintptr_t)extra[0] != 1 || (uintptr_t)extra[2] != 2 || extra[4]) return kInvalidValue;
    const uint32_t sizes[6] = {gx, gy, gz, bx, by, bz};
    memcpy(fake_grid, sizes, sizeof sizes);
    fake_shared = shared;
    fake_argument_size = *(const size_t *)extra[3];
    if (fake_argument_size > sizeof fake_argument) return kInvalidValue;
    memcpy(fake_argument, extra[1], fake_argument_size);
    return 0;
}
Result cuEventCreate(void **event, unsigned flags) {
    TRY(inside("cuEventCreate"));
    if (flags != 1) return kInvalidValue;
    *event = made(kEvents);
    return 0;
}
Result cuEventDestroy_v2(void *event) { return given_back(kEvents, event); }
Result cuEventRecord(void *event, void *stream) {
    TRY(inside("cuEventRecord"));
    if (((Object *)event)->kind != (const char *)&fake_live[kEvents]) return kInvalidValue;
    return ((Object *)stream)->kind == (const char *)&fake_live[kStreams] ? 0 : kInvalidValue;
}
Result cuEventQuery(void *event) {
    TRY(inside("cuEventQuery"));
    if (((Object *)event)->kind != (const char *)&fake_live[kEvents]) return kInvalidValue;
    return fake_ready ? 0 : kNotReady;
}
Result cuEventSynchronize(void *event) {
    TRY(inside("cuEventSynchronize"));
    return ((Object *)event)->kind == (const char *)&fake_live[kEvents] ? 0 : kInvalidValue;
}
Result cuEventElapsedTime(float *milliseconds, void *first, void *last) {
    TRY(inside("cuEventElapsedTime"));
    if (!((Object *)first)->kind || !((Object *)last)->kind) return kInvalidValue;
    *milliseconds = 5.0f;
    return 0;
}
