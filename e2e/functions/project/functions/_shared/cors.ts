export const corsHeaders = {
  "Access-Control-Allow-Origin": "https://example.com",
  "Access-Control-Allow-Headers": "authorization, x-client-info, apikey, content-type",
};
