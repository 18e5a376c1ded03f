select row_to_json(server)::text from (
  select
    version(),
    current_setting('server_version_num')::int8 as version_number,
    (select count(*) from pg_stat_activity) as active_connections,
    current_setting('max_connections')::int8 as max_connections
) server
