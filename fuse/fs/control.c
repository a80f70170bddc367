#include "fs/control.h"

#include "fs/handlers.h"

void control_attributes(const struct fs *fs, struct stat *ret_attributes)
{
    *ret_attributes = (struct stat){
        .st_ino = CONTROL_INO,
        .st_mode = S_IFREG | 0644,
        .st_nlink = 1,
        .st_uid = fs->owner,
        .st_gid = fs->group,
        .st_blksize = 4096,
    };
}

void control_entry(const struct fs *fs, struct fuse_entry_param *ret_entry)
{
    *ret_entry = (struct fuse_entry_param){
        .ino = CONTROL_INO,
        .attr_timeout = fs->attr_timeout_s,
        .entry_timeout = fs->entry_timeout_s,
    };
    control_attributes(fs, &ret_entry->attr);
}
