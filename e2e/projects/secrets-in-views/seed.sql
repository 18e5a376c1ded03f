select vault.create_secret('s3cret', 'mail_key', 'of the provider');
