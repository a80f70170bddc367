/* The file systems below LOWER: the lower one itself, what is mounted in it, Btrfs subvolumes. */
#include <fcntl.h>

#include "fs/inode_table.h"
#include "util/cleanup.h"

/* Finds out what can be done with handles on a new device. */
static void try_handles(struct device *device, struct split *split, int fd, const struct stat *attributes)
{
    AUTO_CLOSE int mount = -1;
    AUTO_CLOSE int again = -1;
    union handle_buffer handle;

    device->mount = -1;
    device->has_handles = fhandle_get(split, fd, &handle) == 0;
    if (!device->has_handles || !S_ISDIR(attributes->st_mode))
        return;
    mount = LOWER(split, openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (mount >= 0)
        again = fhandle_open(split, mount, &handle.handle);
    if (again >= 0)
        device->mount = take_fd(&mount);
}

static struct device *find(struct inode_table *table, dev_t number)
{
    struct device *device = atomic_load_explicit(&table->devices, memory_order_acquire);

    while (device && device->number != number)
        device = device->next;
    return device;
}

static int add(struct inode_table *table, struct split *split, int fd, const struct stat *attributes,
               struct device **ret_device)
{
    struct device *first = atomic_load_explicit(&table->devices, memory_order_relaxed);
    struct device *device = malloc(sizeof(*device));

    if (!device)
        return -ENOMEM;
    *device = (struct device){
        .next = first,
        .number = attributes->st_dev,
        .index = first ? first->index + 1 : 0,
    };
    try_handles(device, split, fd, attributes);
    atomic_store_explicit(&table->devices, device, memory_order_release);
    *ret_device = device;
    return 0;
}

int device_find(struct inode_table *table, struct split *split, int fd, const struct stat *attributes,
                struct device **ret_device)
{
    struct device *device = find(table, attributes->st_dev);
    int r = 0;

    if (!device) {
        pthread_mutex_lock(&table->device_lock);
        device = find(table, attributes->st_dev);
        if (!device)
            r = add(table, split, fd, attributes, &device);
        pthread_mutex_unlock(&table->device_lock);
    }
    if (r == 0)
        *ret_device = device;
    return r;
}

void device_free_all(struct inode_table *table)
{
    struct device *device = atomic_load(&table->devices);

    while (device) {
        struct device *next = device->next;

        cleanup_close(&device->mount);
        free(device);
        device = next;
    }
}

uint64_t inode_number(const struct device *device, uint64_t ino)
{
    /* One to one within a device; apart between devices as long as inode numbers stay below 2^48. */
    return ino ^ ((uint64_t)device->index << 48);
}
