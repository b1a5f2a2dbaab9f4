// Registers the OpenCL objects that are alive, with their references and bytes. opencl.c includes
// this file.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void stop(const char* what, const char* detail)
{
    fprintf(stderr, "opencl.c: %s%s\n", what, detail);
    _Exit(99);
}

enum kind { MEM, EVENT, KERNEL, PROGRAM, QUEUE, CONTEXT, KINDS };
static const char* const kind_names[KINDS] = {"mem", "event", "kernel", "program", "queue", "context"};

// Objects by address and kind, in a hash table with open addressing. A place is never freed, but an
// object at the same address may use it again.
#define PLACES (1u << 18)
static struct object {
    void* address;
    size_t bytes;
    int references;
    enum kind kind;
} objects[PLACES];
static long misused, mapped;
static uint64_t most_bytes; // the most bytes alive at once
static struct {
    uint64_t bytes, objects;
} own_totals, *alive = &own_totals;

static struct object* place_of(void* address, enum kind kind)
{
    unsigned at = (unsigned)((uintptr_t)address / 16 * 2654435761u + kind) % PLACES;
    for (unsigned tried = 0; tried < PLACES; ++tried, at = (at + 1) % PLACES)
        if (!objects[at].address || (objects[at].address == address && objects[at].kind == kind))
            return &objects[at];
    stop("too many objects", "");
    return NULL;
}

static void count_reference(void* address, enum kind kind, size_t bytes)
{
    if (!address)
        return;
    pthread_mutex_lock(&mutex);
    struct object* object = place_of(address, kind);
    object->address = address, object->kind = kind, object->bytes += bytes;
    ++object->references;
    ++alive->objects, alive->bytes += bytes;
    most_bytes = alive->bytes > most_bytes ? alive->bytes : most_bytes;
    pthread_mutex_unlock(&mutex);
}

// Removes a reference and returns whether the object was alive. The function is called before the
// release itself, because another object may get the address afterwards.
static int count_release(void* address, enum kind kind)
{
    pthread_mutex_lock(&mutex);
    struct object* object = place_of(address, kind);
    const int was_alive = object->references > 0;
    if (!was_alive) {
        ++misused;
        fprintf(stderr, "opencl.c: release of a %s that is not alive\n", kind_names[kind]);
    } else {
        --alive->objects;
        if (--object->references == 0)
            alive->bytes -= object->bytes, object->bytes = 0;
    }
    pthread_mutex_unlock(&mutex);
    return was_alive;
}
