-- A provider of single sign-on links by addresses of its own domains only. Whether the domain was the provider's when a sign-in
-- named the address cannot be seen in the identity: the original writes `email_verified: true` into each, and domains come and go.
-- Identities of older versions count from their next sign-in.

create table _selvedge.sso_proven_identities (
  identity_id uuid not null,
  proven_at timestamptz not null,
  constraint sso_proven_identities_pkey primary key (identity_id),
  constraint sso_proven_identities_identity_id_fkey foreign key (identity_id) references auth.identities (id) on delete cascade
);
comment on table _selvedge.sso_proven_identities is
  'Identities of single sign-on whose last sign-in named an address of a domain that was the provider''s. Only they attract '
  'further identities with the same address.';

grant select, insert, update, delete on _selvedge.sso_proven_identities to supabase_auth_admin;
