#include "workload.h"

#include <string.h>

const struct workload *workload_at(size_t index)
{
    static const struct workload *const all[WORKLOAD_COUNT] = {&workload_trigger,
                                                               &workload_mailbox};

    return all[index];
}

const struct workload *workload_find(const char *name)
{
    for (size_t i = 0; i < WORKLOAD_COUNT; i++) {
        if (strcmp(workload_at(i)->name, name) == 0)
            return workload_at(i);
    }
    return NULL;
}
