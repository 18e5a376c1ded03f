begin;
select plan(3);

select results_eq('select jobname from cron.job', array['call-function'], 'one job is left');
select is((select decrypted_secret from vault.decrypted_secrets where name = 'project_url'), 'http://127.0.0.1:9');
select isnt(net.http_get('http://127.0.0.1:9/'), null, 'a request is queued');

select * from finish();
rollback;
