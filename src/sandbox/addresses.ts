/** The address of the list of revoked documents. */
export const statusListUri = (publicUrl: string): string => `${publicUrl}/sandbox/status-list`
export const crlUri = (publicUrl: string): string => `${publicUrl}/sandbox/crl`
