// Every variable with its default and meaning: the source of `serve --help` and of the handbook's table. config.ts reads them.
import { LOG_LEVELS } from './base/log.ts'

export const VARIABLES = {
  PORT: { default: '3000', meaning: 'port to listen on; 0 lets the system choose' },
  HOST: { default: '127.0.0.1', meaning: 'address to listen on; 0.0.0.0 for a LAN' },
  VIDIMUS_PUBLIC_URL: { default: 'http://localhost:PORT', meaning: 'the address wallets and merchants reach this service at' },
  VIDIMUS_DATA_DIR: { default: './data', meaning: 'database, keys, backups' },
  VIDIMUS_KEY_DIR: { default: '', meaning: 'directory of master.key and the wrapping keys; the data directory if not set' },
  VIDIMUS_MASTER_KEY_FILE: {
    default: '',
    meaning:
      'file with the master key (32 bytes) outside VIDIMUS_KEY_DIR; without it, the systemd credential vidimus-master-key counts',
  },
  VIDIMUS_LOG: { default: 'info', meaning: `${LOG_LEVELS.join(', ')}; one JSON line per event on standard error` },
  VIDIMUS_BACKUPS: {
    default: '24h,14d',
    meaning: 'how many hourly and daily backups the server makes and keeps in backups/; off for none; not on PostgreSQL',
  },
  VIDIMUS_KEY_WINDOW_DAYS: {
    default: '',
    meaning:
      'days after which erased verifications cannot be read from any copy, and backups of that age neither; by default as long as VIDIMUS_BACKUPS keeps them, 14 with off',
  },
  VIDIMUS_EGRESS_ALLOW: {
    default: '',
    meaning: 'private destinations that webhooks, status lists and trust lists may reach: ADDRESS-OR-CIDR:PORT, comma separated',
  },
  VIDIMUS_EXTRA_CA: {
    default: '',
    meaning: 'PEM file of authorities that webhooks, status lists and trust lists trust beside those of the system',
  },
  VIDIMUS_TRUSTED_PROXIES: { default: '', meaning: 'addresses or CIDRs whose X-Forwarded-For counts, comma separated' },
  VIDIMUS_TLS_CERT: { default: '', meaning: 'PEM certificate chain; with VIDIMUS_TLS_KEY the service speaks https' },
  VIDIMUS_TLS_KEY: { default: '', meaning: 'PEM private key of VIDIMUS_TLS_CERT' },
  VIDIMUS_RATE_LIMIT_SCALE: { default: '1', meaning: 'multiplies every rate budget; 0 switches them off (load tests)' },
  VIDIMUS_METRICS_TOKEN: {
    default: '',
    meaning: 'bearer token that opens /metrics to other machines and through proxies; 16 characters or more',
  },
  VIDIMUS_SMTP_URL: {
    default: '',
    meaning:
      'server for mail to owners, smtp://user:password@host:587 (STARTTLS where offered) or smtps://…:465; without it no mail is sent',
  },
  VIDIMUS_MAIL_FROM: {
    default: '',
    meaning: 'sender of that mail: alerts@shop.example; a name may stand before the address in angle brackets',
  },
  VIDIMUS_SANDBOX: { default: 'on', meaning: 'off closes the sandbox wallet and its issuer: /sandbox and everything below it' },
  VIDIMUS_OIDC: { default: 'on', meaning: 'off closes the OpenID provider: /oidc and everything below it' },
  VIDIMUS_TRUST_REFRESH: {
    default: 'on',
    meaning:
      'off keeps the service from fetching trust lists, and lists of revocations that no session needs; "refresh" and bundles still work',
  },
  VIDIMUS_STATUS_MAX_AGE: {
    default: '0',
    meaning:
      "how old an issuer's list of revoked documents may be when no newer one can be fetched, 1h to 7d; with 0 such documents are refused",
  },
  VIDIMUS_WEBHOOK_DELAYS: { default: '0s,5s,1m,10m,2h,22h', meaning: 'wait before each delivery attempt, one entry per attempt' },
  VIDIMUS_WALLET_PROFILE: { default: 'haip', meaning: 'haip, or plain for wallets that cannot encrypt their answer' },
  VIDIMUS_WALLET_SCHEME: {
    default: 'openid4vp://',
    meaning:
      'start of wallet_uri: openid4vp://, haip-vp://, one with a host, the https link of one wallet; NAME alone is NAME://authorize',
  },
  VIDIMUS_REQUEST_URI_METHOD: {
    default: 'get',
    meaning:
      'post puts request_uri_method=post into links, for wallets that fetch requests by POST only; both are answered always',
  },
  VIDIMUS_VERIFIER_INFO_DATA: {
    default: 'jwt',
    meaning:
      'form of the registration certificate in requests: jwt, as EU wallets read it, or base64url, the letter of ETSI TS 119 472-2',
  },
  VIDIMUS_CLIENT_ID: { default: 'x509_hash', meaning: 'x509_hash, or x509_san_dns when the certificate names the public host' },
  VIDIMUS_DC_API: {
    default: 'auto',
    meaning:
      'how wallets are asked through the browser: auto signs once a certificate was imported; signed, unsigned, iso (ISO/IEC 18013-7 only) or off',
  },
  VIDIMUS_READER_AUTH: {
    default: 'auto',
    meaning:
      'who signs ISO/IEC 18013-5 requests, in person and through browsers: access (the imported certificate), reader (a reader certificate), none, or auto: access for EU documents or without a reader certificate',
  },
  VIDIMUS_GOOGLE_RP_METADATA: {
    default: '',
    meaning: "base64url text that Google's wallet wants in signed requests (gw_rp_metadata_bytes)",
  },
  VIDIMUS_REGISTRATION_CERT: {
    default: '',
    meaning: 'file with the registration certificate (JWT) that wallets are shown while none is stored',
  },
  VIDIMUS_DATABASE_URL: {
    default: '',
    meaning:
      'postgres://user:password@host/database?sslmode=verify-full for several nodes; empty for the file in VIDIMUS_DATA_DIR',
  },
  VIDIMUS_DATABASE_OWNER_URL: {
    default: '',
    meaning: 'the same database for the user that may change its schema; read by upgrade and move only',
  },
  VIDIMUS_DATABASE_PASSWORD_FILE: { default: '', meaning: 'file with the password, instead of one in VIDIMUS_DATABASE_URL' },
  VIDIMUS_DATABASE_CA: { default: '', meaning: "PEM file of the authority of the database server's certificate" },
  VIDIMUS_DATABASE_CONNECTIONS: { default: '16', meaning: 'connections of this node to PostgreSQL, from 6 to 200' },
  VIDIMUS_DATABASE_PREPARE: { default: 'on', meaning: 'off behind a pooler in transaction mode, such as PgBouncer before 1.21' },
  VIDIMUS_DATABASE_LISTEN_URL: {
    default: '',
    meaning: 'the database without the pooler, for one connection that listens; with VIDIMUS_DATABASE_PREPARE=off only',
  },
} as const

export type Variable = keyof typeof VARIABLES
