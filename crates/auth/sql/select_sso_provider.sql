-- Reads SSO providers as JSON for clients; the caller appends the condition. Members that are null are left out, except
-- `disabled`, and those inside of the attribute mapping, which an administrator has chosen.
select jsonb_strip_nulls(jsonb_build_object(
  'id', p.id,
  'resource_id', p.resource_id,
  'created_at', to_char(p.created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
  'updated_at', to_char(p.updated_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
)) || jsonb_build_object(
  'disabled', p.disabled,
  'saml', jsonb_strip_nulls(jsonb_build_object(
    'entity_id', s.entity_id,
    'metadata_xml', s.metadata_xml,
    'metadata_url', s.metadata_url,
    'name_id_format', s.name_id_format
  )) || jsonb_build_object('attribute_mapping', coalesce(s.attribute_mapping, '{}')),
  'domains', coalesce((
    select jsonb_agg(jsonb_build_object('domain', d.domain) order by d.created_at, d.domain)
    from auth.sso_domains d where d.sso_provider_id = p.id
  ), '[]')
)
from auth.sso_providers p join auth.saml_providers s on s.sso_provider_id = p.id
