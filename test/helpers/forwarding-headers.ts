/** Headers by which a proxy names its client: none counts as this machine. The last two are invented. */
export const FORWARDING_HEADERS = [
  'Forwarded',
  'Via',
  'X-Forwarded-For',
  'X-Forwarded-Host',
  'X-Forwarded-Proto',
  'X-Forwarded-Port',
  'X-Forwarded-Server',
  'X-Real-IP',
  'CF-Connecting-IP',
  'True-Client-IP',
  'X-Client-IP',
  'Fly-Client-IP',
  'X-Envoy-External-Address',
  'X-Cluster-Client-IP',
  'X-Forwarded-Anything',
  'X-FORWARDED-by',
]
