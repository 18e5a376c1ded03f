insert into notes (body) values ('from the seed');
