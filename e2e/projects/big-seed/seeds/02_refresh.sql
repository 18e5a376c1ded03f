select public.refresh_averages();
