begin;
select plan(6);

select has_extension('vault', 'supabase_vault', 'the vault is there');
select is(private.mail_key(), 's3cret', 'the secret is read through the view');
select isnt((select secret from vault.secrets where name = 'mail_key'), 's3cret', 'and stored encrypted');
select vault.update_secret((select id from vault.secrets where name = 'mail_key'), 'changed');
select is(private.mail_key(), 'changed');
set local role authenticated;
select throws_ok('select * from vault.decrypted_secrets', '42501', 'permission denied for schema vault');
select throws_ok('select private.mail_key()', '42501', 'permission denied for schema private');
reset role;

select * from finish();
rollback;
