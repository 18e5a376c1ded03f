-- Versions greater than $1 and up to $2 that resumable uploads refer to: their pieces, and the blob that joins them.
select p.version::text, null, null
from storage.resumable_pieces p
where p.version::text collate "C" > $1::text and p.version::text collate "C" <= $2::text
union all
select u.version::text, null, null
from storage.resumable_uploads u
where u.version::text collate "C" > $1::text and u.version::text collate "C" <= $2::text
