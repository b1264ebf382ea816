/** An existing fragment is replaced. The URL is the merchant's own text otherwise, to the letter. */
export const withResponseCode = (url: string, code: string): string => `${url.split('#', 1)[0]}#response_code=${code}`
