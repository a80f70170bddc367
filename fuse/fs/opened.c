#include "fs/opened.h"

#include <errno.h>
#include <stdlib.h>

void opened_add(struct opened_list *list, const struct call *call, struct opened *opened)
{
    opened->uid = call->uid;
    opened->pid = call->pid;
    pthread_mutex_lock(&list->lock);
    opened->next = list->first;
    opened->link = &list->first;
    if (opened->next)
        opened->next->link = &opened->next;
    list->first = opened;
    list->count++;
    pthread_mutex_unlock(&list->lock);
}

void opened_remove(struct opened_list *list, struct opened *opened, struct node_ops *node_ops)
{
    pthread_mutex_lock(&list->lock);
    *opened->link = opened->next;
    if (opened->next)
        opened->next->link = opened->link;
    list->count--;
    node_ops_join(node_ops, &opened->ops);
    pthread_mutex_unlock(&list->lock);
}

uint64_t opened_count(struct opened_list *list)
{
    uint64_t count;

    pthread_mutex_lock(&list->lock);
    count = list->count;
    pthread_mutex_unlock(&list->lock);
    return count;
}

void opened_ops(struct opened_list *list, fuse_ino_t ino, const struct node_ops *node_ops, struct node_ops *ret_ops)
{
    *ret_ops = (struct node_ops){0};
    pthread_mutex_lock(&list->lock);
    node_ops_join(ret_ops, node_ops);
    for (const struct opened *opened = list->first; opened; opened = opened->next) {
        if (opened->ino == ino)
            node_ops_join(ret_ops, &opened->ops);
    }
    pthread_mutex_unlock(&list->lock);
}

ssize_t opened_inodes(struct opened_list *list, fuse_ino_t **ret_inodes)
{
    fuse_ino_t *inodes;
    ssize_t count = 0;

    pthread_mutex_lock(&list->lock);
    for (struct opened *opened = list->first; opened; opened = opened->next)
        count++;
    inodes = calloc((size_t)count + 1, sizeof(*inodes));
    count = 0;
    for (struct opened *opened = list->first; inodes && opened; opened = opened->next)
        inodes[count++] = opened->ino;
    pthread_mutex_unlock(&list->lock);
    if (!inodes)
        return -ENOMEM;
    *ret_inodes = inodes;
    return count;
}

int opened_close_all(struct opened_list *list, struct call *call)
{
    int first_error = 0;

    while (list->first) {
        int r = list->first->close(call, list->first);

        if (first_error == 0)
            first_error = r;
    }
    return first_error;
}
