select t.nspname::text, t.relname::text, 'table', '',
  format('The table %s without row-level security has the columns %s.', t.quoted, string_agg(a.attname, ', ' order by a.attnum)),
  format('alter table %s enable row level security', t.quoted)
from api_relations t
join pg_attribute a on a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped
where t.relkind in ('r', 'p') and not t.relrowsecurity
  and lower(a.attname) ~ concat(
    '(^|_)(password|passwd|pwd|secret|api_?key|(access|refresh|session|auth)_?(token|code)|jwt|otp|ssn|social_security|',
    'driver_?license|passport|national_id|tax_id|credit_?card|card_number|cvv|bank_account|account_number|routing_number|',
    'iban|swift_code|health_record|medical_record|patient_id|insurance_number|diagnosis|mac_address|imei|device_uuid|',
    'ssh_key|pgp_key|certificate|fingerprint|biometric|facial_recognition)(_|$)')
group by t.nspname, t.relname, t.quoted
