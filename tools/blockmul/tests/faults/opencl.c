// An OpenCL library that fails on purpose. The library forwards calls to the real OpenCL library,
// and makes those calls fail that its environment variables select. The library counts calls by
// name, references of objects, and bytes of buffers.
//
// A program that loads OpenCL at run time loads this library by OPENCL_DYLIB_PATH. The library is
// linked to the real one, so calls that are not defined here go directly to the real library.
//
//   FAULT_CALL   the call that fails: a name, `any` for all but releases, or `late` for commands
//                that return before they are done
//   FAULT_INDEX  number of the failing call among these, from 1; none fails if it is 0 or unset
//   FAULT_CODE   the error, CL_OUT_OF_RESOURCES if unset
//   FAULT_MODE   what follows
//                  once      nothing: this call alone fails
//                  lost      every later call except releases fails, as if the device were gone
//                  released  releases fail too
//                  late      the command is accepted but not done. The event of the failing command
//                            is pending until the next call that waits for the device (a blocking
//                            command, clFinish, clWaitForEvents), and then ends in the error.
//                            Commands in between are not done either, since they would work on
//                            memory that was never written. The events of commands in between end
//                            without an error, and so does the call that waits for the device.
//                            After that all calls work. OpenCL leaves what follows a failed command
//                            to the driver.
//   FAULT_LOG    file for the counts, written at the end
//   FAULT_ALIVE  file of two 64-bit numbers, kept up to date: bytes of buffers and objects alive
#define _GNU_SOURCE
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include "objects.h"
#include <CL/cl.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum mode { ONCE, LOST, RELEASED, LATE };
static const char* const mode_names[] = {"once", "lost", "released", "late"};

static struct {
    enum mode mode;
    const char* call;
    long index;
    cl_int code;
} fault;

static pthread_once_t begun = PTHREAD_ONCE_INIT;
static void* library;
static long matched;          // calls that `fault.call` matched so far
static int failed;            // whether the fault was made
static int undone;            // FAULT_MODE late: whether commands are not done at present
static cl_event failed_event; // FAULT_MODE late: the event that ends in the error

// Numbers of calls by name, of all calls except releases, and of calls that may fail late.
#define NAMES 64
static struct {
    const char* name;
    long calls;
} counts[NAMES];
static long any_calls, late_calls;

static void write_log(void)
{
    const char* path = getenv("FAULT_LOG");
    FILE* log = path ? fopen(path, "w") : NULL;
    if (!log)
        return;
    for (int i = 0; i < NAMES && counts[i].name; ++i)
        fprintf(log, "call %s %ld\n", counts[i].name, counts[i].calls);
    fprintf(log, "any calls %ld\nlate calls %ld\n", any_calls, late_calls);
    long of_kind[KINDS] = {0};
    for (unsigned i = 0; i < PLACES; ++i)
        of_kind[objects[i].kind] += objects[i].references;
    for (int kind = 0; kind < KINDS; ++kind)
        fprintf(log, "alive %s %ld\n", kind_names[kind], of_kind[kind]);
    fprintf(log, "most bytes %llu\n", (unsigned long long)most_bytes);
    fprintf(log, "alive mapping %ld\nmisused objects %ld\nfailed calls %d\n", mapped, misused, failed);
    fclose(log);
}

static void begin(void)
{
    library = dlopen("libOpenCL.so.1", RTLD_NOW);
    if (!library)
        stop("no OpenCL: ", dlerror());
    const char* text;
    fault.call = getenv("FAULT_CALL");
    fault.index = (text = getenv("FAULT_INDEX")) ? atol(text) : 0;
    fault.code = (text = getenv("FAULT_CODE")) ? atoi(text) : CL_OUT_OF_RESOURCES;
    if ((text = getenv("FAULT_MODE"))) {
        while (strcmp(text, mode_names[fault.mode]))
            if (++fault.mode > LATE)
                stop("no mode ", text);
    }
    if ((text = getenv("FAULT_ALIVE"))) {
        const int file = open(text, O_RDWR | O_CREAT, 0600);
        if (file < 0 || ftruncate(file, sizeof *alive))
            stop("cannot write ", text);
        alive = mmap(NULL, sizeof *alive, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        close(file);
        if (alive == MAP_FAILED)
            stop("cannot map ", text);
    }
    atexit(write_log);
}

static void* real(const char* name)
{
    pthread_once(&begun, begin);
    void* symbol = dlsym(library, name);
    if (!symbol)
        stop("the real library has no ", name);
    return symbol;
}
#define REAL(name) ((__typeof__(&name))real(#name))

// Returns whether this call must fail. `late` says that the command may return before it is done.
static int fails(const char* name, int late)
{
    pthread_once(&begun, begin);
    pthread_mutex_lock(&mutex);
    int i = 0;
    while (counts[i].name && strcmp(counts[i].name, name))
        if (++i == NAMES)
            stop("too many names of calls: ", name);
    counts[i].name = name;
    ++counts[i].calls;
    const int releases = !strncmp(name, "clRelease", 9);
    any_calls += !releases;
    late_calls += late;
    const char* wanted = fault.call ? fault.call : "";
    const int of_kind = (!strcmp(wanted, "any") && !releases) || (!strcmp(wanted, "late") && late);
    const int meant = of_kind || !strcmp(wanted, name);
    int fail = meant && ++matched == fault.index;
    failed |= fail;
    fail |= failed && (fault.mode == RELEASED || (fault.mode == LOST && !releases));
    pthread_mutex_unlock(&mutex);
    return fail;
}

// Ends the event of a command that fails late. The function is called when the program waits for
// the device.
static void settle(void)
{
    if (!undone)
        return;
    undone = 0;
    if (REAL(clSetUserEventStatus)(failed_event, fault.code) || REAL(clReleaseEvent)(failed_event))
        stop("a command cannot fail late", "");
}

// Makes the event of a command that is not done. If `in_error`, the event will end in the error;
// otherwise it ends well.
static cl_int event_of_undone(cl_command_queue queue, int in_error, cl_event* event)
{
    cl_int status;
    cl_event made = NULL;
    if (in_error) {
        cl_context context;
        status = REAL(clGetCommandQueueInfo)(queue, CL_QUEUE_CONTEXT, sizeof context, &context, NULL);
        if (!status)
            made = REAL(clCreateUserEvent)(context, &status);
        // The second reference to the event is for `settle`, because the program may release its
        // own.
        if (!status)
            status = REAL(clRetainEvent)(made);
        undone = 1;
        failed_event = made;
    } else
        status = REAL(clEnqueueMarkerWithWaitList)(queue, 0, NULL, &made);
    if (!status && event) {
        *event = made;
        count_reference(made, EVENT, 0);
    }
    return status;
}

// Defines calls that only return a status.
#define PLAIN(name, PARAMETERS, ...)                                                               \
    cl_int name PARAMETERS                                                                         \
    {                                                                                              \
        return fails(#name, 0) ? fault.code : REAL(name)(__VA_ARGS__);                             \
    }
#define ANSWER size_t size, void *value, size_t *written
PLAIN(clGetPlatformIDs, (cl_uint n, cl_platform_id* p, cl_uint* found), n, p, found)
PLAIN(clGetPlatformInfo, (cl_platform_id p, cl_platform_info i, ANSWER), p, i, size, value, written)
PLAIN(clGetDeviceIDs, (cl_platform_id p, cl_device_type t, cl_uint n, cl_device_id* d, cl_uint* found),
    p, t, n, d, found)
PLAIN(clGetDeviceInfo, (cl_device_id d, cl_device_info i, ANSWER), d, i, size, value, written)
PLAIN(clGetContextInfo, (cl_context c, cl_context_info i, ANSWER), c, i, size, value, written)
PLAIN(clGetCommandQueueInfo, (cl_command_queue q, cl_command_queue_info i, ANSWER), q, i, size, value,
    written)
PLAIN(clGetMemObjectInfo, (cl_mem m, cl_mem_info i, ANSWER), m, i, size, value, written)
PLAIN(clGetProgramInfo, (cl_program p, cl_program_info i, ANSWER), p, i, size, value, written)
PLAIN(clGetProgramBuildInfo, (cl_program p, cl_device_id d, cl_program_build_info i, ANSWER), p, d, i,
    size, value, written)
PLAIN(clGetKernelInfo, (cl_kernel k, cl_kernel_info i, ANSWER), k, i, size, value, written)
PLAIN(clGetKernelArgInfo, (cl_kernel k, cl_uint n, cl_kernel_arg_info i, ANSWER), k, n, i, size, value,
    written)
PLAIN(clGetKernelWorkGroupInfo, (cl_kernel k, cl_device_id d, cl_kernel_work_group_info i, ANSWER), k,
    d, i, size, value, written)
PLAIN(clGetEventInfo, (cl_event e, cl_event_info i, ANSWER), e, i, size, value, written)
PLAIN(clGetEventProfilingInfo, (cl_event e, cl_profiling_info i, ANSWER), e, i, size, value, written)
PLAIN(clSetKernelArg, (cl_kernel k, cl_uint n, size_t size, const void* value), k, n, size, value)
PLAIN(clBuildProgram, (cl_program p, cl_uint n, const cl_device_id* d, const char* options,
    void(CL_CALLBACK* f)(cl_program, void*), void* data), p, n, d, options, f, data)
PLAIN(clFlush, (cl_command_queue q), q)

cl_int clFinish(cl_command_queue queue)
{
    if (fails("clFinish", 0))
        return fault.code;
    settle();
    return REAL(clFinish)(queue);
}

cl_int clWaitForEvents(cl_uint n, const cl_event* events)
{
    if (fails("clWaitForEvents", 0))
        return fault.code;
    settle();
    // Failed events are recognised by their status, because a later event may have the address of
    // the failed one.
    for (cl_uint i = 0; i < n; ++i) {
        cl_int status = CL_COMPLETE;
        REAL(clGetEventInfo)(events[i], CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
        if (status < 0)
            return CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    }
    return REAL(clWaitForEvents)(n, events);
}

// Commands make an event, and may fail late unless they block. `BEGINNING` contains the arguments
// between the queue and the events to wait for.
#define COMMAND(name, BLOCKING, BEGINNING, PARAMETERS)                                             \
    cl_int name PARAMETERS                                                                         \
    {                                                                                              \
        const int late = !(BLOCKING);                                                              \
        const int fail = fails(#name, late);                                                       \
        if (fail && !(late && fault.mode == LATE))                                                 \
            return fault.code;                                                                     \
        if (late && (fail || undone))                                                              \
            return event_of_undone(queue, fail, event);                                            \
        if (!late)                                                                                 \
            settle();                                                                              \
        const cl_int status = REAL(name)(queue, BEGINNING waits, wait, event);                     \
        if (!status && event)                                                                      \
            count_reference(*event, EVENT, 0);                                                     \
        return status;                                                                             \
    }
#define WAIT cl_uint waits, const cl_event *wait, cl_event *event
#define LIST(...) __VA_ARGS__,
COMMAND(clEnqueueNDRangeKernel, 0, LIST(k, d, o, g, l), (cl_command_queue queue, cl_kernel k, cl_uint d,
    const size_t* o, const size_t* g, const size_t* l, WAIT))
COMMAND(clEnqueueReadBuffer, block, LIST(m, block, o, n, to), (cl_command_queue queue, cl_mem m,
    cl_bool block, size_t o, size_t n, void* to, WAIT))
COMMAND(clEnqueueWriteBuffer, block, LIST(m, block, o, n, from), (cl_command_queue queue, cl_mem m,
    cl_bool block, size_t o, size_t n, const void* from, WAIT))
COMMAND(clEnqueueCopyBuffer, 0, LIST(from, to, a, b, n), (cl_command_queue queue, cl_mem from,
    cl_mem to, size_t a, size_t b, size_t n, WAIT))
COMMAND(clEnqueueFillBuffer, 0, LIST(m, p, size, o, n), (cl_command_queue queue, cl_mem m,
    const void* p, size_t size, size_t o, size_t n, WAIT))
COMMAND(clEnqueueMarkerWithWaitList, 0, , (cl_command_queue queue, WAIT))
COMMAND(clEnqueueBarrierWithWaitList, 0, , (cl_command_queue queue, WAIT))

// An unmapping is executed even if other commands are not done, because the mapping would otherwise
// outlive its memory.
cl_int clEnqueueUnmapMemObject(cl_command_queue queue, cl_mem memory, void* address, WAIT)
{
    __sync_fetch_and_sub(&mapped, 1);
    if (fails("clEnqueueUnmapMemObject", 1))
        return fault.mode == LATE ? event_of_undone(queue, 1, event) : fault.code;
    const cl_int status = REAL(clEnqueueUnmapMemObject)(queue, memory, address, waits, wait, event);
    if (!status && event)
        count_reference(*event, EVENT, 0);
    return status;
}

// A mapping that does not block cannot fail late, because it returns its address at once.
void* clEnqueueMapBuffer(cl_command_queue queue, cl_mem m, cl_bool block, cl_map_flags f, size_t o,
    size_t n, WAIT, cl_int* status)
{
    if (fails("clEnqueueMapBuffer", 0)) {
        if (status)
            *status = fault.code;
        return NULL;
    }
    if (block)
        settle();
    void* address = REAL(clEnqueueMapBuffer)(queue, m, block, f, o, n, waits, wait, event, status);
    if (address) {
        __sync_fetch_and_add(&mapped, 1);
        if (event)
            count_reference(*event, EVENT, 0);
    }
    return address;
}

// Defines calls that make an object with `BYTES` bytes of device memory.
#define MAKER(type, name, KIND, BYTES, BEGINNING, PARAMETERS)                                      \
    type name PARAMETERS                                                                           \
    {                                                                                              \
        if (fails(#name, 0)) {                                                                     \
            if (status)                                                                            \
                *status = fault.code;                                                              \
            return NULL;                                                                           \
        }                                                                                          \
        type made = REAL(name)(BEGINNING status);                                                  \
        count_reference(made, KIND, BYTES);                                                        \
        return made;                                                                               \
    }
MAKER(cl_context, clCreateContext, CONTEXT, 0, LIST(p, n, d, f, data), (const cl_context_properties* p,
    cl_uint n, const cl_device_id* d, void(CL_CALLBACK* f)(const char*, const void*, size_t, void*),
    void* data, cl_int* status))
MAKER(cl_command_queue, clCreateCommandQueue, QUEUE, 0, LIST(c, d, p), (cl_context c, cl_device_id d,
    cl_command_queue_properties p, cl_int* status))
MAKER(cl_command_queue, clCreateCommandQueueWithProperties, QUEUE, 0, LIST(c, d, p), (cl_context c,
    cl_device_id d, const cl_queue_properties* p, cl_int* status))
MAKER(cl_mem, clCreateBuffer, MEM, n, LIST(c, f, n, p), (cl_context c, cl_mem_flags f, size_t n,
    void* p, cl_int* status))
MAKER(cl_program, clCreateProgramWithSource, PROGRAM, 0, LIST(c, n, s, l), (cl_context c, cl_uint n,
    const char** s, const size_t* l, cl_int* status))
MAKER(cl_program, clCreateProgramWithBinary, PROGRAM, 0, LIST(c, n, d, l, b, each), (cl_context c,
    cl_uint n, const cl_device_id* d, const size_t* l, const unsigned char** b, cl_int* each,
    cl_int* status))
MAKER(cl_kernel, clCreateKernel, KERNEL, 0, LIST(p, name), (cl_program p, const char* name, cl_int* status))

// Defines calls that count references. A failed release is counted as a release, because a program
// can do no more.
#define COUNTED(Name, type, KIND)                                                                  \
    cl_int clRetain##Name(type object)                                                             \
    {                                                                                              \
        if (fails("clRetain" #Name, 0))                                                            \
            return fault.code;                                                                     \
        const cl_int status = REAL(clRetain##Name)(object);                                        \
        if (!status)                                                                               \
            count_reference(object, KIND, 0);                                                      \
        return status;                                                                             \
    }                                                                                              \
    cl_int clRelease##Name(type object)                                                            \
    {                                                                                              \
        const int fail = fails("clRelease" #Name, 0);                                              \
        const int was_alive = count_release(object, KIND);                                         \
        return fail || !was_alive ? fault.code : REAL(clRelease##Name)(object);                    \
    }
COUNTED(MemObject, cl_mem, MEM)
COUNTED(Event, cl_event, EVENT)
COUNTED(Kernel, cl_kernel, KERNEL)
COUNTED(Program, cl_program, PROGRAM)
COUNTED(CommandQueue, cl_command_queue, QUEUE)
COUNTED(Context, cl_context, CONTEXT)
