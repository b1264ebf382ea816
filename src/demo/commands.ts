/** What the page does, as a merchant's server would: ask, look, read, erase. They follow each other in one shell. */
export function demoCommands(publicUrl: string, key: string): string[] {
  const url = `${publicUrl}/v1/verifications`
  const auth = `-H "Authorization: Bearer ${key}"`
  return [
    `ID=$(curl -s ${url} ${auth} -H "Content-Type: application/json" -d '{"template":"age_over_18"}' | grep -o 'vs_[A-Za-z0-9]*' | head -n 1); echo "Answer it here: ${publicUrl}/v/$ID"`,
    `curl -s ${url}/$ID/status`,
    `curl -s ${url}/$ID ${auth}`,
    `curl -s -X DELETE ${url}/$ID ${auth}`,
  ]
}
