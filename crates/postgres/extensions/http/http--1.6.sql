-- http: requests whose responses a statement waits for (docs/extensions.md). PostgreSQL has no HTTP client, so the server
-- beside it sends the request: a function asks it over a socket in PostgreSQL's own socket folder, in the protocol
-- that the library of dblink speaks (crates/jobs/src/http).

create domain http_method as text;
create domain content_type as text check (value ~ '^\S+\/\S+');
create type http_header as (field varchar, value varchar);
create type http_response as (status integer, content_type varchar, headers http_header[], content varchar);
create type http_request as (method http_method, uri varchar, headers http_header[], content_type varchar, content varchar);

-- The entry point of dblink's library: sends `query` to the server of `connection` and returns its rows. The domain refuses what dblink's
-- own functions refuse (sql/platform/0210_connection_options.sql).
create domain _http_connection as text check (_selvedge.check_connection(value));
create function _http_dblink(connection _http_connection, query text) returns setof record
  language c strict volatile
as '$libdir/dblink', 'dblink_record';
-- Default privileges of the schema may have opened it to these roles.
revoke all on function _http_dblink(_http_connection, text) from public, postgres, anon, authenticated, service_role;
grant execute on function _http_dblink(_http_connection, text) to selvedge_http;

-- Hands a request to the server and returns its answer, as a role that can do nothing else. Callers choose the request, never the connection,
-- and a request is JSON, which is no statement where a PostgreSQL were at the other end. The server asks for a password because dblink lets
-- nobody but superusers use a connection without one. BEGIN ATOMIC binds the function that is called: whoever owns the schema could rename
-- it, and put another function in its place.
create function _http_send(question text) returns text
  language sql volatile security definer
  set search_path = pg_catalog, pg_temp
begin atomic
  select a.answer
  from @extschema@._http_dblink(
    pg_catalog.concat(
      'host=''', pg_catalog.replace(
        pg_catalog.replace(
          pg_catalog.concat(
            pg_catalog.split_part(pg_catalog.current_setting('unix_socket_directories'::text), ','::text, 1), '/http'::text
          ), '\'::text, '\\'::text
        ), ''''::text, '\'''::text
      ),
      ''' port=1 dbname=http user=http password=http sslmode=disable gssencmode=disable connect_timeout=5'
    )::@extschema@._http_connection,
    _http_send.question::pg_catalog.jsonb::pg_catalog.text
  ) as a (answer text);
end;
alter function _http_send(text) owner to selvedge_http;

create function _http_ask(question jsonb) returns jsonb
  language plpgsql volatile
  set search_path = pg_catalog, pg_temp
as $$
begin
  return @extschema@._http_send(question::text)::jsonb;
exception
  when sqlclient_unable_to_establish_sqlconnection then
    raise exception using
      errcode = 'connection_failure',
      message = 'HTTP requests of SQL are sent by the server beside this database, which is not there',
      hint = 'They work in the PostgreSQL that `selvedge start` runs, and while it runs.';
end
$$;

-- The options of curl that have an effect here, and those that are accepted because nothing depends on them.
create function _http_known_options() returns text[]
  language sql immutable
as $$
  select array[
    'CURLOPT_TIMEOUT', 'CURLOPT_TIMEOUT_MS', 'CURLOPT_USERAGENT', 'CURLOPT_USERPWD',
    'CURLOPT_CONNECTTIMEOUT', 'CURLOPT_CONNECTTIMEOUT_MS', 'CURLOPT_TCP_KEEPALIVE', 'CURLOPT_TCP_KEEPIDLE'
  ]
$$;

-- The value of an option in this session; null when it is not set.
create function _http_option(name text) returns text
  language sql stable
as $$ select nullif(pg_catalog.current_setting('http.' || pg_catalog.lower(name), true), '') $$;

create function http_set_curlopt(curlopt varchar, value varchar) returns boolean
  language plpgsql
as $$
begin
  if not upper(curlopt) = any (@extschema@._http_known_options()) then
    raise exception 'curl option ''%'' is not available for run-time configuration', curlopt;
  end if;
  perform set_config('http.' || lower(curlopt), value, false);
  return true;
end
$$;

create function http_reset_curlopt() returns boolean
  language plpgsql
as $$
declare
  name text;
begin
  foreach name in array @extschema@._http_known_options() loop
    perform set_config('http.' || lower(name), '', false);
  end loop;
  return true;
end
$$;

create function http_list_curlopt() returns table (curlopt text, value text)
  language sql stable
as $$
  select name, @extschema@._http_option(name)
  from pg_catalog.unnest(@extschema@._http_known_options()) as name
  where @extschema@._http_option(name) is not null
$$;

create function http_header(field varchar, value varchar) returns http_header
  language sql
as $$ select $1, $2 $$;

create function http_headers(variadic args text[]) returns http_header[]
  language plpgsql immutable strict
as $$
begin
  if cardinality(args) % 2 <> 0 then
    raise exception 'Arguments must be provided in key-value pairs';
  end if;
  return array(
    select row(args[place], args[place + 1])::@extschema@.http_header
    from generate_series(1, cardinality(args), 2) as place
  );
end
$$;

-- How long a response may take, in milliseconds: five seconds as in the original, unless an option says otherwise.
create function _http_time_limit() returns integer
  language sql stable
as $$
  select coalesce(
    @extschema@._http_option('curlopt_timeout_ms')::integer,
    @extschema@._http_option('timeout_msec')::integer,
    @extschema@._http_option('curlopt_timeout')::integer * 1000,
    5000
  )
$$;

-- The response to a request for a package of database.dev that this server brings along; null for any other request. So
-- scripts that install such a package work without a network.
create function _http_shipped_package(uri text) returns http_response
  language sql stable
as $$
  select row(
    200, 'application/json; charset=utf-8', array[]::@extschema@.http_header[],
    pg_catalog.json_build_array(pg_catalog.json_build_object('sql', '', 'version', e.default_version))::text
  )::@extschema@.http_response
  from pg_catalog.pg_available_extensions as e
  where uri like 'https://api.database.dev/rest/v1/package\_versions?%'
    and e.name = pg_catalog.substring(uri, '[?&]package_name=eq\.([^&]+)')
$$;

create function http(request http_request) returns http_response
  language plpgsql volatile
as $$
declare
  method text := upper(request.method);
  shipped @extschema@.http_response;
  answer jsonb;
  headers jsonb;
begin
  if request is null then
    raise exception 'An http_request must be provided';
  elsif request.uri is null then
    raise exception 'http_request.uri is NULL';
  elsif request.method is null then
    raise exception 'http_request.method is NULL';
  elsif method in ('POST', 'PUT', 'PATCH') and request.content_type is null then
    raise exception 'http_request.content_type is NULL';
  elsif method in ('POST', 'PUT', 'PATCH') and request.content is null then
    raise exception 'http_request.content is NULL';
  end if;
  shipped := @extschema@._http_shipped_package(request.uri);
  if shipped.status is not null then
    return shipped;
  end if;
  select jsonb_agg(jsonb_build_array(h.field, h.value)) into headers
  from unnest(request.headers) as h
  where h.field is not null and lower(h.field) <> 'content-type';
  if exists (select from unnest(request.headers) as h where lower(h.field) = 'content-type') then
    raise notice '''Content-Type'' is not supported as an optional header';
  end if;
  answer := @extschema@._http_ask(jsonb_build_object(
    'method', method,
    'uri', request.uri,
    'headers', coalesce(headers, '[]'),
    'content_type', request.content_type,
    'content', request.content,
    'timeout_ms', @extschema@._http_time_limit(),
    'user_agent', coalesce(@extschema@._http_option('curlopt_useragent'), version()),
    'credentials', @extschema@._http_option('curlopt_userpwd')
  ));
  if answer ? 'error' then
    raise exception '%', answer ->> 'error';
  end if;
  return row(
    (answer ->> 'status')::integer,
    answer ->> 'content_type',
    array(
      select row(h.pair ->> 0, h.pair ->> 1)::@extschema@.http_header
      from jsonb_array_elements(answer -> 'headers') with ordinality as h (pair, place)
      order by h.place
    ),
    answer ->> 'content'
  )::@extschema@.http_response;
end
$$;

-- Percent-encodes all but unreserved characters of RFC 3986; a space becomes a plus sign, as forms have it.
create function urlencode(string bytea) returns text
  language sql immutable strict
as $$
  select coalesce(
    pg_catalog.string_agg(
      case
        when byte = 32 then '+'
        when byte between 45 and 126 and pg_catalog.chr(byte) collate "C" ~ '[A-Za-z0-9._~-]' then pg_catalog.chr(byte)
        else '%' || pg_catalog.lpad(pg_catalog.upper(pg_catalog.to_hex(byte)), 2, '0')
      end,
      '' order by place
    ),
    ''
  )
  from pg_catalog.generate_series(0, pg_catalog.length(string) - 1) as place,
    lateral pg_catalog.get_byte(string, place) as byte
$$;

create function urlencode(string varchar) returns text
  language sql immutable strict
as $$ select @extschema@.urlencode(pg_catalog.convert_to(string, pg_catalog.getdatabaseencoding())) $$;

-- The scalar members of an object as a form; null when it has none.
create function urlencode(data jsonb) returns text
  language sql immutable strict
as $$
  select pg_catalog.string_agg(
    @extschema@.urlencode(member.key::varchar) || '=' || @extschema@.urlencode(
      case pg_catalog.jsonb_typeof(member.value)
        when 'number' then pg_catalog.trim_scale((member.value #>> '{}')::numeric)::varchar
        when 'null' then ''
        else (member.value #>> '{}')::varchar
      end
    ),
    '&'
  )
  from pg_catalog.jsonb_each(data) as member
  where pg_catalog.jsonb_typeof(member.value) not in ('object', 'array')
$$;

create function text_to_bytea(data text) returns bytea
  language sql immutable strict
as $$ select pg_catalog.convert_to(data, pg_catalog.getdatabaseencoding()) $$;

create function bytea_to_text(data bytea) returns text
  language sql immutable strict
as $$ select pg_catalog.convert_from(data, pg_catalog.getdatabaseencoding()) $$;

create function http_get(uri varchar) returns http_response
  language sql
as $$ select @extschema@.http(row('GET', uri, null, null, null)::@extschema@.http_request) $$;

create function http_get(uri varchar, data jsonb) returns http_response
  language sql
as $$
  select @extschema@.http(
    row('GET', uri || '?' || @extschema@.urlencode(data), null, null, null)::@extschema@.http_request
  )
$$;

create function http_post(uri varchar, content varchar, content_type varchar) returns http_response
  language sql
as $$ select @extschema@.http(row('POST', uri, null, content_type, content)::@extschema@.http_request) $$;

create function http_post(uri varchar, data jsonb) returns http_response
  language sql
as $$
  select @extschema@.http(
    row('POST', uri, null, 'application/x-www-form-urlencoded', @extschema@.urlencode(data))::@extschema@.http_request
  )
$$;

create function http_put(uri varchar, content varchar, content_type varchar) returns http_response
  language sql
as $$ select @extschema@.http(row('PUT', uri, null, content_type, content)::@extschema@.http_request) $$;

create function http_patch(uri varchar, content varchar, content_type varchar) returns http_response
  language sql
as $$ select @extschema@.http(row('PATCH', uri, null, content_type, content)::@extschema@.http_request) $$;

create function http_delete(uri varchar) returns http_response
  language sql
as $$ select @extschema@.http(row('DELETE', uri, null, null, null)::@extschema@.http_request) $$;

create function http_delete(uri varchar, content varchar, content_type varchar) returns http_response
  language sql
as $$ select @extschema@.http(row('DELETE', uri, null, content_type, content)::@extschema@.http_request) $$;

create function http_head(uri varchar) returns http_response
  language sql
as $$ select @extschema@.http(row('HEAD', uri, null, null, null)::@extschema@.http_request) $$;
