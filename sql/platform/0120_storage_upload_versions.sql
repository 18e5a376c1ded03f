-- Each attempt to finish a resumable upload makes a blob of its own, so that two nodes can try at the same time.
comment on column storage.resumable_uploads.version is 'Id of the upload, a part of its address.';
