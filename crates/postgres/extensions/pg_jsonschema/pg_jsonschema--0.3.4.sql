-- pg_jsonschema: JSON Schema in PL/pgSQL (docs/extensions.md). One function per group of keywords returns the messages of
-- what is wrong. All of them take the document of the schema, the resource in it that `#` means (the nearest one with an
-- `$id`), the schema that applies, the value, the draft, and how deep the evaluation is.

-- The draft that `$schema` names. Without it, the newest.
create function @extschema@._jsonschema_draft(document jsonb) returns int
  language sql immutable parallel safe
as $$
  select case
    when jsonb_typeof(document) <> 'object' or document ->> '$schema' is null then 2020
    when document ->> '$schema' like '%draft-04%' then 4
    when document ->> '$schema' like '%draft-06%' then 6
    when document ->> '$schema' like '%draft-07%' then 7
    when document ->> '$schema' like '%2019-09%' then 2019
    else 2020
  end
$$;

-- What a JSON pointer such as `/$defs/a~1b` names, or null.
create function @extschema@._jsonschema_pointer(resource jsonb, pointer text) returns jsonb
  language plpgsql immutable parallel safe
as $$
declare
  part text;
begin
  foreach part in array (string_to_array(pointer, '/'))[2:] loop
    while part ~ '%[0-9a-fA-F]{2}' loop
      part := regexp_replace(part, '%[0-9a-fA-F]{2}',
        replace(chr(('x' || substring(part from '%([0-9a-fA-F]{2})'))::bit(8)::int), '\', '\\'));
    end loop;
    part := replace(replace(part, '~1', '/'), '~0', '~');
    resource := case jsonb_typeof(resource)
      when 'object' then resource -> part
      when 'array' then case when part ~ '^[0-9]{1,9}$' then resource -> part::int end
    end;
    if resource is null then
      return null;
    end if;
  end loop;
  return resource;
end
$$;

-- Follows a `$ref` inside the document; nothing is fetched. `next_resource` is what `#` means in the schema that is found.
create function @extschema@._jsonschema_resolve(
  document jsonb, resource jsonb, reference text, out next_resource jsonb, out target jsonb
)
  language plpgsql immutable parallel safe
as $$
declare
  address text := split_part(reference, '#', 1);
  fragment text := substr(reference, length(split_part(reference, '#', 1)) + 2);
begin
  next_resource := resource;
  if address <> '' then
    next_resource := jsonb_path_query_first(
      jsonb_build_array(document), '$.** ? (@."$id" == $address || @.id == $address)',
      jsonb_build_object('address', address)
    );
    if next_resource is null then
      next_resource := jsonb_path_query_first(
        jsonb_build_array(document), '$.** ? (@."$id" == $address)', jsonb_build_object('address', address || '#')
      );
    end if;
  end if;
  target := case
    when fragment = '' then next_resource
    when fragment like '/%' then @extschema@._jsonschema_pointer(next_resource, fragment)
    else jsonb_path_query_first(
      jsonb_build_array(next_resource),
      '$.** ? (@."$anchor" == $anchor || @."$dynamicAnchor" == $anchor || @."$id" == $fragment || @.id == $fragment)',
      jsonb_build_object('anchor', fragment, 'fragment', '#' || fragment)
    )
  end;
  if target is null then
    raise exception 'JSON Schema: cannot resolve "$ref" %', to_jsonb(reference)
      using errcode = 'invalid_parameter_value',
        hint = 'References are followed inside the schema only; nothing is fetched from the network.';
  end if;
end
$$;

create function @extschema@._jsonschema_has_type(instance jsonb, name text, draft int) returns boolean
  language sql immutable parallel safe
as $$
  select case
    when name <> 'integer' then jsonb_typeof(instance) = name
    when jsonb_typeof(instance) <> 'number' then false
    when draft = 4 then instance::text !~ '\.'
    else instance::numeric % 1 = 0
  end
$$;

-- `type`, `enum`, `const`: values of every type.
create function @extschema@._jsonschema_any_value(schema jsonb, instance jsonb, draft int) returns text[]
  language plpgsql immutable parallel safe
as $$
declare
  errors text[] := '{}';
  types jsonb := schema -> 'type';
begin
  if jsonb_typeof(types) = 'string' then
    if not @extschema@._jsonschema_has_type(instance, types #>> '{}', draft) then
      errors := errors || format('%s is not of type %s', instance, types);
    end if;
  elsif types is not null and not exists (
    select from jsonb_array_elements_text(types) as name where @extschema@._jsonschema_has_type(instance, name, draft)
  ) then
    errors := errors
      || format('%s is not of types %s', instance, (select string_agg(t::text, ', ') from jsonb_array_elements(types) as t));
  end if;
  if schema ? 'enum' and not exists (select from jsonb_array_elements(schema -> 'enum') as item where item = instance) then
    errors := errors || format(
      '%s is not one of %s', instance, (select string_agg(t::text, ', ') from jsonb_array_elements(schema -> 'enum') as t)
    );
  end if;
  if draft > 4 and schema ? 'const' and schema -> 'const' <> instance then
    errors := errors || format('%s was expected', schema -> 'const');
  end if;
  return errors;
end
$$;

create function @extschema@._jsonschema_number(schema jsonb, instance jsonb, draft int) returns text[]
  language plpgsql immutable parallel safe
as $$
declare
  errors text[] := '{}';
  value numeric := instance;
  at_least numeric := schema -> 'minimum';
  at_most numeric := schema -> 'maximum';
  above numeric;
  below numeric;
begin
  if draft = 4 then
    above := case when schema -> 'exclusiveMinimum' = 'true' then at_least end;
    below := case when schema -> 'exclusiveMaximum' = 'true' then at_most end;
  else
    above := schema -> 'exclusiveMinimum';
    below := schema -> 'exclusiveMaximum';
  end if;
  if value < at_least then
    errors := errors || format('%s is less than the minimum of %s', value, at_least);
  end if;
  if value > at_most then
    errors := errors || format('%s is greater than the maximum of %s', value, at_most);
  end if;
  if value <= above then
    errors := errors || format('%s is less than or equal to the minimum of %s', value, above);
  end if;
  if value >= below then
    errors := errors || format('%s is greater than or equal to the maximum of %s', value, below);
  end if;
  if value % (schema -> 'multipleOf')::numeric <> 0 then
    errors := errors || format('%s is not a multiple of %s', value, schema -> 'multipleOf');
  end if;
  return errors;
end
$$;

create function @extschema@._jsonschema_string(schema jsonb, instance jsonb) returns text[]
  language plpgsql immutable parallel safe
as $$
declare
  errors text[] := '{}';
  value text := instance #>> '{}';
  shortest numeric := schema -> 'minLength';
  longest numeric := schema -> 'maxLength';
begin
  if length(value) < shortest then
    errors := errors || format('%s is shorter than %s character%s', instance, shortest, left('s', (shortest <> 1)::int));
  end if;
  if length(value) > longest then
    errors := errors || format('%s is longer than %s character%s', instance, longest, left('s', (longest <> 1)::int));
  end if;
  if value !~ (schema ->> 'pattern') then
    errors := errors || format('%s does not match %s', instance, schema -> 'pattern');
  end if;
  return errors;
end
$$;

create function @extschema@._jsonschema_array(
  document jsonb, resource jsonb, schema jsonb, instance jsonb, draft int, depth int
) returns text[]
  language plpgsql immutable parallel safe
as $$
declare
  errors text[] := '{}';
  size int := jsonb_array_length(instance);
  fewest numeric := schema -> 'minItems';
  most numeric := schema -> 'maxItems';
  prefix jsonb := case when draft >= 2020 then schema -> 'prefixItems' end;
  rest jsonb := schema -> 'items';
  matches int := 0;
begin
  if draft < 2020 and jsonb_typeof(rest) = 'array' then
    prefix := rest;
    rest := schema -> 'additionalItems';
  end if;
  if size < fewest then
    errors := errors || format('%s has less than %s item%s', instance, fewest, left('s', (fewest <> 1)::int));
  end if;
  if size > most then
    errors := errors || format('%s has more than %s item%s', instance, most, left('s', (most <> 1)::int));
  end if;
  if schema -> 'uniqueItems' = 'true'
    and size > (select count(distinct item) from jsonb_array_elements(instance) as item) then
    errors := errors || format('%s has non-unique elements', instance);
  end if;
  for index in 0 .. case when prefix is null and rest is null then -1 else size - 1 end loop
    if coalesce(prefix -> index, rest) is not null then
      errors := errors || @extschema@._jsonschema_errors(
        document, resource, coalesce(prefix -> index, rest), instance -> index, draft, depth
      );
    end if;
  end loop;
  if draft > 4 and schema ? 'contains' then
    for index in 0 .. size - 1 loop
      matches := matches + (cardinality(@extschema@._jsonschema_errors(
        document, resource, schema -> 'contains', instance -> index, draft, depth
      )) = 0)::int;
    end loop;
    if matches < (case when draft >= 2019 then coalesce((schema -> 'minContains')::numeric, 1) else 1 end) then
      errors := errors || format('None of %s are valid under the given schema', instance);
    elsif draft >= 2019 and matches > (schema -> 'maxContains')::numeric then
      errors := errors || format('%s contains more than %s matching items', instance, schema -> 'maxContains');
    end if;
  end if;
  return errors;
end
$$;

-- The subschemas of an object's members, and `additionalProperties` for those without one.
create function @extschema@._jsonschema_members(
  document jsonb, resource jsonb, schema jsonb, instance jsonb, draft int, depth int
) returns text[]
  language plpgsql immutable parallel safe
as $$
declare
  errors text[] := '{}';
  unexpected text[] := '{}';
  additional jsonb := schema -> 'additionalProperties';
  member record;
  pattern record;
  known boolean;
begin
  for member in select * from jsonb_each(instance) loop
    known := coalesce(schema -> 'properties' ? member.key, false);
    if known then
      errors := errors || @extschema@._jsonschema_errors(
        document, resource, schema -> 'properties' -> member.key, member.value, draft, depth
      );
    end if;
    if schema ? 'patternProperties' then
      for pattern in select * from jsonb_each(schema -> 'patternProperties') loop
        if member.key ~ pattern.key then
          known := true;
          errors := errors
            || @extschema@._jsonschema_errors(document, resource, pattern.value, member.value, draft, depth);
        end if;
      end loop;
    end if;
    if not known and additional = 'false' then
      unexpected := unexpected || quote_literal(member.key);
    elsif not known and additional is not null then
      errors := errors || @extschema@._jsonschema_errors(document, resource, additional, member.value, draft, depth);
    end if;
    if draft > 4 and schema ? 'propertyNames' then
      errors := errors || @extschema@._jsonschema_errors(
        document, resource, schema -> 'propertyNames', to_jsonb(member.key), draft, depth
      );
    end if;
  end loop;
  if unexpected <> '{}' then
    errors := errors || format(
      'Additional properties are not allowed (%s %s unexpected)',
      array_to_string(unexpected, ', '), case cardinality(unexpected) when 1 then 'was' else 'were' end
    );
  end if;
  return errors;
end
$$;

create function @extschema@._jsonschema_object(
  document jsonb, resource jsonb, schema jsonb, instance jsonb, draft int, depth int
) returns text[]
  language plpgsql immutable parallel safe
as $$
declare
  errors text[] := '{}';
  size int;
  fewest numeric := schema -> 'minProperties';
  most numeric := schema -> 'maxProperties';
  keyword text;
  dependency record;
begin
  if schema ? 'required' then
    errors := errors || array(
      select format('%s is a required property', name)
      from jsonb_array_elements(schema -> 'required') as name where not instance ? (name #>> '{}')
    );
  end if;
  if fewest is not null or most is not null then
    size := (select count(*) from jsonb_object_keys(instance));
    if size < fewest then
      errors := errors || format('%s has less than %s propert%s', instance, fewest, case fewest when 1 then 'y' else 'ies' end);
    end if;
    if size > most then
      errors := errors || format('%s has more than %s propert%s', instance, most, case most when 1 then 'y' else 'ies' end);
    end if;
  end if;
  if schema ?| '{properties,patternProperties,additionalProperties,propertyNames}' then
    errors := errors || @extschema@._jsonschema_members(document, resource, schema, instance, draft, depth);
  end if;
  foreach keyword in array '{dependencies,dependentRequired,dependentSchemas}'::text[] loop
    continue when not schema ? keyword or (keyword <> 'dependencies' and draft < 2019);
    for dependency in select * from jsonb_each(schema -> keyword) where instance ? key loop
      if jsonb_typeof(dependency.value) = 'array' then
        errors := errors || array(
          select format('%s is a required property', name)
          from jsonb_array_elements(dependency.value) as name where not instance ? (name #>> '{}')
        );
      else
        errors := errors || @extschema@._jsonschema_errors(document, resource, dependency.value, instance, draft, depth);
      end if;
    end loop;
  end loop;
  return errors;
end
$$;

-- `allOf`, `anyOf`, `oneOf`, `not`, `if`: schemas that apply to the same value.
create function @extschema@._jsonschema_combined(
  document jsonb, resource jsonb, schema jsonb, instance jsonb, draft int, depth int
) returns text[]
  language plpgsql immutable parallel safe
as $$
declare
  errors text[] := '{}';
  keyword text;
  part jsonb;
  matches int;
begin
  for part in select * from jsonb_array_elements(coalesce(schema -> 'allOf', '[]')) loop
    errors := errors || @extschema@._jsonschema_errors(document, resource, part, instance, draft, depth);
  end loop;
  foreach keyword in array '{anyOf,oneOf}'::text[] loop
    continue when not schema ? keyword;
    matches := 0;
    for part in select * from jsonb_array_elements(schema -> keyword) loop
      matches := matches
        + (cardinality(@extschema@._jsonschema_errors(document, resource, part, instance, draft, depth)) = 0)::int;
      exit when matches = case keyword when 'anyOf' then 1 else 2 end;
    end loop;
    if matches = 0 then
      errors := errors || format('%s is not valid under any of the schemas listed in the ''%s'' keyword', instance, keyword);
    elsif matches = 2 then
      errors := errors || format('%s is valid under more than one of the schemas listed in the ''oneOf'' keyword', instance);
    end if;
  end loop;
  if schema ? 'not'
    and @extschema@._jsonschema_errors(document, resource, schema -> 'not', instance, draft, depth) = '{}' then
    errors := errors || format('%s is not allowed for %s', schema -> 'not', instance);
  end if;
  if draft >= 7 and schema ? 'if' and schema ?| '{then,else}' then
    keyword := case @extschema@._jsonschema_errors(document, resource, schema -> 'if', instance, draft, depth)
      when '{}' then 'then' else 'else' end;
    if schema ? keyword then
      errors := errors || @extschema@._jsonschema_errors(document, resource, schema -> keyword, instance, draft, depth);
    end if;
  end if;
  return errors;
end
$$;

-- Everything that is wrong with a value. Depth is bounded, so a `$ref` that leads to itself ends with an error.
create function @extschema@._jsonschema_errors(
  document jsonb, resource jsonb, schema jsonb, instance jsonb, draft int, depth int
) returns text[]
  language plpgsql immutable parallel safe
as $$
declare
  errors text[] := '{}';
  found record;
  kind text := jsonb_typeof(instance);
begin
  if depth > 100 then
    raise exception 'JSON Schema: more than 100 schemas are nested'
      using errcode = 'program_limit_exceeded', hint = 'A "$ref" may lead to itself.';
  elsif schema = 'true' then
    return errors;
  elsif schema = 'false' then
    return array[format('False schema does not allow %s', instance)];
  elsif jsonb_typeof(schema) <> 'object' then
    raise exception 'JSON Schema: % is not of types "boolean", "object"', schema
      using errcode = 'invalid_parameter_value';
  elsif schema ?| '{unevaluatedItems,unevaluatedProperties,$dynamicRef,$recursiveRef}' and draft >= 2019 then
    raise exception 'JSON Schema: unevaluatedItems, unevaluatedProperties, $dynamicRef and $recursiveRef are not supported'
      using errcode = 'feature_not_supported';
  end if;
  if jsonb_typeof(schema -> '$ref') = 'string' then
    found := @extschema@._jsonschema_resolve(document, resource, schema ->> '$ref');
    errors := @extschema@._jsonschema_errors(document, found.next_resource, found.target, instance, draft, depth + 1);
    if draft < 2019 then
      return errors;
    end if;
  end if;
  if schema ->> '$id' not like '#%' then
    resource := schema;
  end if;
  if schema ?| '{type,enum,const}' then
    errors := errors || @extschema@._jsonschema_any_value(schema, instance, draft);
  end if;
  if kind = 'object' then
    errors := errors || @extschema@._jsonschema_object(document, resource, schema, instance, draft, depth + 1);
  elsif kind = 'array' then
    errors := errors || @extschema@._jsonschema_array(document, resource, schema, instance, draft, depth + 1);
  elsif kind = 'string' and schema ?| '{minLength,maxLength,pattern}' then
    errors := errors || @extschema@._jsonschema_string(schema, instance);
  elsif kind = 'number' and schema ?| '{minimum,maximum,exclusiveMinimum,exclusiveMaximum,multipleOf}' then
    errors := errors || @extschema@._jsonschema_number(schema, instance, draft);
  end if;
  if schema ?| '{allOf,anyOf,oneOf,not,if}' then
    errors := errors || @extschema@._jsonschema_combined(document, resource, schema, instance, draft, depth + 1);
  end if;
  return errors;
end
$$;

-- The shapes of keywords, as a schema.
create function @extschema@._jsonschema_metaschema(draft int) returns jsonb
  language sql immutable parallel safe
as $$
  select jsonb_build_object(
    '$schema', 'draft-07', 'type', case draft when 4 then '["object"]' else '["object", "boolean"]' end::jsonb,
    'definitions', '{
      "count": {"type": "integer", "minimum": 0},
      "schemas": {"type": "array", "minItems": 1, "items": {"$ref": "#"}},
      "names": {"type": "array", "items": {"type": "string"}, "uniqueItems": true},
      "members": {"type": "object", "additionalProperties": {"$ref": "#"}},
      "type": {"enum": ["array", "boolean", "integer", "null", "number", "object", "string"]}
    }'::jsonb,
    'properties', '{
      "$ref": {"type": "string"}, "$id": {"type": "string"}, "$schema": {"type": "string"}, "pattern": {"type": "string"},
      "type": {"anyOf": [{"$ref": "#/definitions/type"},
        {"type": "array", "items": {"$ref": "#/definitions/type"}, "minItems": 1, "uniqueItems": true}]},
      "enum": {"type": "array"}, "required": {"$ref": "#/definitions/names"}, "uniqueItems": {"type": "boolean"},
      "minimum": {"type": "number"}, "maximum": {"type": "number"}, "multipleOf": {"type": "number", "exclusiveMinimum": 0},
      "minLength": {"$ref": "#/definitions/count"}, "maxLength": {"$ref": "#/definitions/count"},
      "minItems": {"$ref": "#/definitions/count"}, "maxItems": {"$ref": "#/definitions/count"},
      "minProperties": {"$ref": "#/definitions/count"}, "maxProperties": {"$ref": "#/definitions/count"},
      "allOf": {"$ref": "#/definitions/schemas"}, "anyOf": {"$ref": "#/definitions/schemas"},
      "oneOf": {"$ref": "#/definitions/schemas"}, "not": {"$ref": "#"}, "additionalProperties": {"$ref": "#"},
      "properties": {"$ref": "#/definitions/members"}, "patternProperties": {"$ref": "#/definitions/members"},
      "definitions": {"$ref": "#/definitions/members"}
    }'::jsonb || case when draft = 4
      then '{"exclusiveMinimum": {"type": "boolean"}, "exclusiveMaximum": {"type": "boolean"}}'
      else '{"exclusiveMinimum": {"type": "number"}, "exclusiveMaximum": {"type": "number"}, "if": {"$ref": "#"},
        "then": {"$ref": "#"}, "else": {"$ref": "#"}, "contains": {"$ref": "#"}, "propertyNames": {"$ref": "#"}}'
      end::jsonb || case when draft >= 2020
      then '{"items": {"$ref": "#"}, "prefixItems": {"$ref": "#/definitions/schemas"}, "$defs": {"$ref": "#/definitions/members"}}'
      else '{"items": {"anyOf": [{"$ref": "#"}, {"$ref": "#/definitions/schemas"}]}}' end::jsonb
  )
$$;

create function @extschema@.jsonb_matches_schema(schema json, instance jsonb) returns boolean
  language plpgsql immutable strict parallel safe
as $$
declare
  document jsonb := schema;
begin
  return @extschema@._jsonschema_errors(
    document, document, document, instance, @extschema@._jsonschema_draft(document), 0
  ) = '{}';
end
$$;

create function @extschema@.json_matches_schema(schema json, instance json) returns boolean
  language sql immutable strict parallel safe
  return @extschema@.jsonb_matches_schema(schema, instance::jsonb);

create function @extschema@.jsonschema_validation_errors(schema json, instance json) returns text[]
  language plpgsql immutable strict parallel safe
as $$
declare
  document jsonb := schema;
  draft int := @extschema@._jsonschema_draft(document);
  meta jsonb := @extschema@._jsonschema_metaschema(draft);
  errors text[] := @extschema@._jsonschema_errors(meta, meta, meta, document, 7, 0);
begin
  if errors <> '{}' then
    return errors[1:1];
  end if;
  return @extschema@._jsonschema_errors(document, document, document, instance::jsonb, draft, 0);
end
$$;

create function @extschema@.jsonschema_is_valid(schema json) returns boolean
  language plpgsql immutable strict parallel safe
as $$
declare
  document jsonb := schema;
  meta jsonb := @extschema@._jsonschema_metaschema(@extschema@._jsonschema_draft(document));
begin
  return @extschema@._jsonschema_errors(meta, meta, meta, document, 7, 0) = '{}';
end
$$;
