#include "tree.h"

#include <ftw.h>
#include <stdio.h>

static int remove_entry(const char *path, const struct stat *attributes, int kind, struct FTW *at)
{
    (void)attributes;
    (void)kind;
    (void)at;
    remove(path);
    return 0;
}

void tree_remove(const char *directory)
{
    nftw(directory, remove_entry, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}
