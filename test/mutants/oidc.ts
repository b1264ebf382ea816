import type { Slip } from './list.ts'

export default [
  ['the answer names no issuer', 'withAnswer', '{ ...answer, iss: issuer }', '{ ...answer }', 'oidc/login', 'oidc/authorize'],
  [
    'any browser brings a log-in back',
    'isBrowserOf',
    'secret !== undefined && equalConstantTime(sha256Hex(secret), browserHash)',
    'true',
    'oidc/return',
  ],
  ['a code is good twice', 'spend', ', isNull(oidcLogins.codeUsedAt)', '', 'oidc/token'],
  ['any verifier fits', 'isFor', '&& equalConstantTime(made, code_challenge)', '', 'oidc/token'],
  ['a verifier without a challenge passes', 'isFor', 'return code_challenge === verifier', 'return true', 'oidc/token'],
  ['an issuer writes our token', 'claimsFor', 'if (RESERVED.has(name)) continue', '', 'oidc/claims'],
  ['a mailbox counts as proven', 'claimsFor', '_verified`, false)', '_verified`, true)', 'oidc/claims'],
  [
    'a client is known in the other environment',
    'clientOf',
    '&& client.environment === issuer.environment',
    '',
    'oidc/authorize',
    'oidc/token',
  ],
  ['a token may be sent twice', 'tokenOf', 'sent.length > 1', 'false', 'oidc/token'],
  ['any address is registered', 'isRegistered', 'each === given ||', 'true ||', 'oidc/authorize'],
  ['a replay leaves the token', 'recordReplay', 'await revokeToken(tx, login, deps.now())', '', 'oidc/token'],
  ['an old token reads on', 'read', '&& login.tokenExpiresAt! > deps.now()', '', 'oidc/token'],
  ['prompt=none asks', 'readRequest', "prompts.includes('none')", 'false', 'oidc/authorize'],
  ['PKCE is left out', 'readRequest', "!code_challenge && client.pkce === 'required'", 'false', 'oidc/authorize'],
  ['a subject needs no secret', 'subjectOf', 'hmacSha256With(secret)', 'hmacSha256With(Buffer.alloc(32))', 'oidc/subject'],
  ['a subject belongs to any authority', 'subjectOf', '[login.clientId, authority,', '[login.clientId,', 'oidc/subject'],
  ['a subject is the same for all clients', 'subjectOf', '[login.clientId, authority,', '[authority,', 'oidc/subject'],
] satisfies Slip[]
