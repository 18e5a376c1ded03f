-- GraphQL (gateway.md §10): the function that /graphql/v1 calls. It calls pg_graphql with the caller's privileges if that extension
-- is installed, else it returns the error that GraphQL is not enabled. The check runs at every call, because the extension may be
-- created or dropped at any time; plpgsql resolves the function's name only when the statement runs.
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
