// Runs the proof on the checkout page: a session from the shop, an answer by the element, its code to the shop.
const windows = new BroadcastChannel('vidimus')

for (const box of document.querySelectorAll('.vidimus-proof[data-session]')) run(box)

async function run(box) {
  const element = box.querySelector('vidimus-verify')
  const status = box.querySelector('[role=status]')
  const again = box.querySelector('button')
  const words = JSON.parse(box.dataset.words)

  const end = (word, mayRepeat) => {
    element.removeAttribute('session')
    status.textContent = words[word]
    again.hidden = !mayRepeat
  }

  const call = async (url, values) => {
    try {
      const answer = await fetch(url, { method: 'POST', body: new URLSearchParams({ nonce: box.dataset.nonce, ...values }) })
      if (answer.ok) return (await answer.json()).data
    } catch {}
    end('unavailable', true)
  }

  const ask = async () => {
    status.textContent = ''
    again.hidden = true
    const answer = await call(box.dataset.session)
    if (answer?.confirmed) end('confirmed')
    else if (answer) element.setAttribute('session', answer.session)
  }

  const redeem = async code => {
    const answer = await call(box.dataset.redeem, { response_code: code })
    if (!answer) return
    end(answer.confirmed ? 'confirmed' : 'refused', !answer.confirmed)
    if (answer.confirmed) windows.postMessage('confirmed')
  }

  again.addEventListener('click', ask)
  box.addEventListener('vidimus-answered', ({ detail }) => {
    if (detail.response_code) redeem(detail.response_code)
    else if (detail.status === 'completed') end('elsewhere', true)
    else end('refused', true)
  })
  box.addEventListener('vidimus-error', ({ detail }) => detail.reason === 'expired' && end('expired', true))
  windows.addEventListener('message', ({ data }) => data === 'confirmed' && end('confirmed'))

  // Back from the hosted page: the code is in the fragment, which no server sees.
  const code = new URLSearchParams(location.hash.slice(1)).get('response_code')
  if (!code) return await ask()
  history.replaceState(null, '', location.pathname + location.search)
  await redeem(code)
}
