-- GraphQL (gateway.md §10): the function that /graphql/v1 calls passes its arguments on to pg_graphql where that extension is
-- installed, with the rights of the caller, and else says that it is not enabled. It asks at every call, because the extension
-- can come and go; plpgsql resolves the name only when the statement runs.
create or replace function graphql_public.graphql(
  "operationName" text default null, query text default null, variables jsonb default null, extensions jsonb default null
) returns jsonb
  language plpgsql
as $$
begin
  if to_regprocedure('graphql.resolve(text, jsonb, text, jsonb)') is null then
    return jsonb_build_object(
      'errors', jsonb_build_array(jsonb_build_object('message', 'pg_graphql extension is not enabled.'))
    );
  end if;
  return graphql.resolve(
    query := query,
    variables := coalesce(variables, '{}'),
    "operationName" := "operationName",
    extensions := extensions
  );
end
$$;
