/** Where a verifier finds what the issuer has revoked. */
export const statusListUri = (publicUrl: string): string => `${publicUrl}/sandbox/status-list`
export const crlUri = (publicUrl: string): string => `${publicUrl}/sandbox/crl`
