/* A libnvidia-ml.so.1 of our own for tests: two GPUs (a third may be plugged in), one of them with two MIG instances.
 *
 * GPU 0 is in MIG mode: no utilization, two instances. GPU 1 answers with sentinels where standin_sentinels is set, can
 * fall off the bus, hang, and have XIDs. No header is included and no C runtime linked, so that a compiler alone builds it. */
typedef unsigned int u32;
typedef unsigned long long u64;
typedef int ret;

extern int usleep(u32);
extern char *getenv(const char *);
extern int atoi(const char *);

enum { OK = 0, UNINITIALIZED = 1, INVALID = 2, NOT_SUPPORTED = 3, NO_PERMISSION = 4, NOT_FOUND = 6, SMALL = 7,
       NOT_LOADED = 9, TIMEOUT = 10, LOST = 15 };
enum { GPUS = 3, INSTANCES = 2, QUEUE = 64 };

typedef struct { int gpu; int instance; } device;
typedef struct { u32 gpu, memory; } utilization;
typedef struct { u32 version; u64 total, reserved, free, used; } memory;
typedef struct { char legacy[16]; u32 domain, bus, device, id, subsystem; char bus_id[32]; } pci;
typedef struct { u32 id, scope; long long at, latency; u32 type; ret code; union { double d; u32 ui; u64 ull; } value; } field;
typedef struct { u32 pid; u64 used; u32 gpu_instance, compute_instance; } process;
typedef struct { u32 sm, copy, decoder, encoder, jpeg, ofa, slices, compute_slices; u64 memory_mb; } attributes;
typedef struct { device *device; u64 type, data; u32 gpu_instance, compute_instance; } event;

static device gpus[GPUS] = {{0, -1}, {1, -1}, {2, -1}};
static device instances[INSTANCES] = {{0, 0}, {0, 1}};

/* What a test sets through the functions at the end. */
static volatile int initialised, driver = 1, count = 2, mig_instances = INSTANCES, sentinels, calls, lose_after;
static volatile int lost[GPUS], hangs[GPUS], hanging[GPUS], denied;
static volatile u64 throttle, corrected_errors, energy = 1000000, watts = 300;
static volatile u32 remapped, percent = 40;
static event queue[QUEUE];
static volatile int queued, taken;
static char set;

static ret enter(device *d) {
    calls++;
    if (!driver) return NOT_LOADED;
    if (!initialised) return UNINITIALIZED;
    if (!d) return OK;
    while (hangs[d->gpu]) { hanging[d->gpu] = 1; usleep(2000); }
    if (lose_after && d->gpu == 1 && calls > lose_after) lost[1] = 1;
    return lost[d->gpu] ? LOST : OK;
}
#define ENTER(d) do { ret code = enter(d); if (code) return code; } while (0)

static void copy(char *to, const char *from, u32 size) {
    u32 at = 0;
    for (; at + 1 < size && from[at]; at++) to[at] = from[at];
    to[at] = 0;
}
static int same(const char *a, const char *b) {
    while (*a && *a == *b) { a++; b++; }
    return *a == *b;
}

static const char *gpu_uuids[GPUS] = {
    "GPU-00000000-aaaa-4000-8000-000000000000", "GPU-11111111-bbbb-4000-8000-000000000001",
    "GPU-22222222-cccc-4000-8000-000000000002"};
static const char *instance_uuids[INSTANCES] = {
    "MIG-33333333-dddd-4000-8000-000000000003", "MIG-44444444-eeee-4000-8000-000000000004"};
static const char *bus_ids[GPUS] = {"00000000:01:00.0", "00000000:02:00.0", "00000000:03:00.0"};

static void take_orders(void) {
    char *text = getenv("STANDIN_LOSE_AFTER");
    if (text) lose_after = atoi(text);
    if ((text = getenv("STANDIN_DEVICES"))) count = atoi(text);
    if ((text = getenv("STANDIN_XIDS")))
        for (int left = atoi(text); left > 0; left--) queue[queued++ % QUEUE] = (event){&gpus[1], 8, 79, ~0u, ~0u};
}

ret nvmlInitWithFlags(u32 flags) {
    if (!driver) return NOT_LOADED;
    if (!initialised) take_orders();
    initialised++;
    return OK;
}
ret nvmlShutdown(void) {
    if (!initialised) return UNINITIALIZED;
    initialised--;
    return OK;
}
ret nvmlSystemGetDriverVersion(char *to, u32 size) { ENTER(0); copy(to, "999.01", size); return OK; }
ret nvmlDeviceGetCount_v2(u32 *to) { ENTER(0); *to = count; return OK; }
ret nvmlDeviceGetHandleByIndex_v2(u32 index, device **to) {
    ENTER(0);
    if (index >= (u32)count) return INVALID;
    if (lost[index]) return LOST;
    *to = &gpus[index];
    return OK;
}
ret nvmlDeviceGetHandleByUUID(const char *uuid, device **to) {
    ENTER(0);
    for (int i = 0; i < count; i++)
        if (same(uuid, gpu_uuids[i])) {
            if (lost[i]) return LOST;
            *to = &gpus[i];
            return OK;
        }
    return NOT_FOUND;
}
ret nvmlDeviceGetUUID(device *d, char *to, u32 size) {
    ENTER(0);
    copy(to, d->instance < 0 ? gpu_uuids[d->gpu] : instance_uuids[d->instance], size);
    return OK;
}
ret nvmlDeviceGetName(device *d, char *to, u32 size) { ENTER(d); copy(to, "Stand-in 80GB", size); return OK; }
ret nvmlDeviceGetPciInfo_v3(device *d, pci *to) { ENTER(d); copy(to->bus_id, bus_ids[d->gpu], 32); return OK; }
ret nvmlDeviceGetUtilizationRates(device *d, utilization *to) {
    ENTER(d);
    if (d->gpu == 0 || d->instance >= 0) return NOT_SUPPORTED; /* MIG */
    to->gpu = sentinels ? ~0u : percent;
    to->memory = sentinels ? ~0u : 20;
    return OK;
}
ret nvmlDeviceGetMemoryInfo_v2(device *d, memory *to) {
    ENTER(d);
    u64 gib = 1ULL << 30;
    to->total = d->instance < 0 ? 80 * gib : 10 * gib;
    to->reserved = sentinels && d->gpu == 1 ? 0x7fffffffffffffffULL : gib / 2;
    to->used = sentinels && d->gpu == 1 ? ~0ULL : to->total / 4;
    to->free = to->total - to->total / 4 - gib / 2;
    return OK;
}
ret nvmlDeviceGetPowerUsage(device *d, u32 *to) {
    ENTER(d);
    if (d->instance >= 0) return NOT_SUPPORTED;
    *to = sentinels && d->gpu == 1 ? 0x7fffffff : (u32)watts * 1000;
    return OK;
}
ret nvmlDeviceGetTotalEnergyConsumption(device *d, u64 *to) {
    ENTER(d);
    *to = sentinels && d->gpu == 1 ? 0x7ffffffffffffff0ULL : energy;
    return OK;
}
ret nvmlDeviceGetEnforcedPowerLimit(device *d, u32 *to) { ENTER(d); *to = 700000; return OK; }
ret nvmlDeviceGetTemperature(device *d, u32 sensor, u32 *to) {
    ENTER(d);
    *to = sentinels && d->gpu == 1 ? ~0u : 55;
    return OK;
}
ret nvmlDeviceGetFieldValues(device *d, int n, field *to) {
    ENTER(d);
    for (int i = 0; i < n; i++) {
        int is_temperature = to[i].id == 82;
        to[i].code = is_temperature || d->gpu == 1 ? OK : NOT_SUPPORTED; /* only GPU 1 has NVLink */
        to[i].type = is_temperature ? 1 : 3;
        to[i].value.ull = is_temperature ? 61 : 7;
    }
    return OK;
}
ret nvmlDeviceGetClockInfo(device *d, u32 kind, u32 *to) { ENTER(d); *to = kind == 2 ? 2619 : 1980; return OK; }
ret nvmlDeviceGetCurrentClocksEventReasons(device *d, u64 *to) { ENTER(d); *to = d->gpu == 1 ? throttle : 0; return OK; }
ret nvmlDeviceGetPerformanceState(device *d, u32 *to) { ENTER(d); *to = sentinels && d->gpu == 1 ? 32 : 0; return OK; }
ret nvmlDeviceGetCurrPcieLinkGeneration(device *d, u32 *to) { ENTER(d); *to = 5; return OK; }
ret nvmlDeviceGetCurrPcieLinkWidth(device *d, u32 *to) { ENTER(d); *to = 16; return OK; }
ret nvmlDeviceGetPcieReplayCounter(device *d, u32 *to) { ENTER(d); *to = sentinels && d->gpu == 1 ? ~0u : 3; return OK; }
ret nvmlDeviceGetPcieThroughput(device *d, u32 way, u32 *to) {
    ENTER(d);
    if (denied) return NO_PERMISSION;
    *to = way ? 2000 : 1000;
    return OK;
}
ret nvmlDeviceGetNvLinkState(device *d, u32 link, u32 *to) {
    ENTER(d);
    if (d->gpu != 1) return NOT_SUPPORTED;
    if (link >= 4) return INVALID;
    *to = link != 3;
    return OK;
}
ret nvmlDeviceGetTotalEccErrors(device *d, u32 kind, u32 counter, u64 *to) {
    ENTER(d);
    *to = kind == 0 && d->gpu == 1 ? corrected_errors : 0;
    return OK;
}
ret nvmlDeviceGetRetiredPages(device *d, u32 cause, u32 *n, u64 *to) {
    ENTER(d);
    if (d->gpu == 1) return NOT_SUPPORTED; /* it remaps rows */
    u32 had = *n;
    *n = cause == 0 ? 2 : 0;
    if (*n > had) return SMALL;
    for (u32 i = 0; i < *n; i++) to[i] = 4096 * i;
    return OK;
}
ret nvmlDeviceGetRetiredPagesPendingStatus(device *d, u32 *to) { ENTER(d); *to = 0; return OK; }
ret nvmlDeviceGetRemappedRows(device *d, u32 *corrected, u32 *uncorrected, u32 *pending, u32 *failed) {
    ENTER(d);
    *corrected = 0; *uncorrected = d->gpu == 1 ? remapped : 0; *pending = 0; *failed = 0;
    return OK;
}
ret nvmlDeviceGetComputeRunningProcesses_v3(device *d, u32 *n, process *to) {
    ENTER(d);
    u32 had = *n;
    *n = d->gpu == 1 ? 3 : 0;
    if (*n > had) return SMALL;
    if (!*n) return OK;
    to[0] = (process){4711, 1ULL << 30, ~0u, ~0u};
    to[1] = (process){4712, ~0ULL, ~0u, ~0u}; /* its memory is not told */
    to[2] = (process){0, 5, ~0u, ~0u};        /* of another container: no pid */
    return OK;
}
ret nvmlDeviceGetGraphicsRunningProcesses_v3(device *d, u32 *n, process *to) { ENTER(d); *n = 0; return OK; }
ret nvmlDeviceGetMigMode(device *d, u32 *now, u32 *pending) {
    ENTER(d);
    if (d->gpu == 2) return NOT_SUPPORTED;
    *now = *pending = d->gpu == 0;
    return OK;
}
ret nvmlDeviceGetMaxMigDeviceCount(device *d, u32 *to) { ENTER(d); *to = 7; return OK; }
ret nvmlDeviceGetMigDeviceHandleByIndex(device *d, u32 index, device **to) {
    ENTER(d);
    if (d->gpu != 0 || index >= (u32)mig_instances) return NOT_FOUND;
    *to = &instances[index];
    return OK;
}
ret nvmlDeviceGetGpuInstanceId(device *d, u32 *to) { ENTER(d); *to = 7 + d->instance; return OK; }
ret nvmlDeviceGetComputeInstanceId(device *d, u32 *to) { ENTER(d); *to = 0; return OK; }
ret nvmlDeviceGetAttributes_v2(device *d, attributes *to) {
    ENTER(d);
    to->slices = 1; to->compute_slices = 1; to->memory_mb = 9728;
    return OK;
}
ret nvmlDeviceGetSupportedEventTypes(device *d, u64 *to) { ENTER(d); *to = 0x1f; return OK; }
ret nvmlDeviceRegisterEvents(device *d, u64 types, void *events) { ENTER(d); return OK; }
ret nvmlEventSetCreate(void **to) { ENTER(0); *to = &set; return OK; }
ret nvmlEventSetFree(void *events) { return OK; }
ret nvmlEventSetWait_v2(void *events, event *to, u32 milliseconds) {
    for (u32 waited = 0;; waited += 5) {
        ENTER(0);
        if (taken < queued) { *to = queue[taken % QUEUE]; taken++; return OK; }
        if (waited >= milliseconds) return TIMEOUT;
        usleep(5000);
    }
}

/* The hands of a test. */
void standin_reset(void) {
    driver = 1; count = 2; mig_instances = INSTANCES; sentinels = denied = calls = lose_after = 0;
    for (int i = 0; i < GPUS; i++) lost[i] = hangs[i] = hanging[i] = 0;
    throttle = corrected_errors = 0; energy = 1000000; watts = 300; remapped = 0; percent = 40; queued = taken = 0;
}
void standin_driver(int is_there) { driver = is_there; if (!is_there) initialised = 0; }
void standin_devices(int n) { count = n; }
void standin_mig(int n) { mig_instances = n; }
void standin_lose(int gpu, int is_lost) { lost[gpu] = is_lost; }
void standin_hang(int gpu, int does) { hanging[gpu] = 0; hangs[gpu] = does; }
int standin_hanging(int gpu) { return hanging[gpu]; }
void standin_xid(int gpu, int xid) { queue[queued % QUEUE] = (event){&gpus[gpu], 8, xid, ~0u, ~0u}; queued++; }
void standin_sentinels(int are) { sentinels = are; }
void standin_deny(int is) { denied = is; }
void standin_throttle(u64 bits) { throttle = bits; }
void standin_corrected(u64 n) { corrected_errors = n; }
void standin_remapped(u32 n) { remapped = n; }
void standin_energy(u64 n) { energy = n; }
void standin_percent(u32 n) { percent = n; }
int standin_calls(void) { return calls; }
