-- After a gap of the replication stream the service reads the broadcasts of the gap by their time. The table only grows
-- at its end, so an index of the ranges of blocks is enough; it costs inserts nothing that could be measured.
set local role supabase_realtime_admin;

create index if not exists messages_inserted_at_blocks on realtime.messages
  using brin (inserted_at) with (autosummarize = on);

reset role;
