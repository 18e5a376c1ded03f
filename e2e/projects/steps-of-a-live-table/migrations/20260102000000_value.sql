alter type public.state add value if not exists 'sent' after 'paid';
