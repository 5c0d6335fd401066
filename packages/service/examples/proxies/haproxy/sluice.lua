-- Asks Sluice about a request. Takes the address of the gate, and the header fields that hold further attributes ("" if there
-- are none):
--
--   http-request lua.sluice http://127.0.0.1:8081/v1/gate x-merchant,x-plan
--
-- The value of the field x-merchant is the variable txn.x_merchant. If the variable is not set, the attribute is absent.
--
-- Sets txn.sluice to `allowed`, `denied`, `down` if the service did not answer, or `refused` if the service answered, but not
-- with a decision. The last one is a mistake in a configuration, and the log says more. If this script itself fails,
-- txn.sluice is not set, so let requests pass only for a value that you name.
-- Sets txn.sluice_ratelimit, txn.sluice_ratelimit_policy, txn.sluice_retry_after and txn.sluice_body for the response.
--- The fields that tell the service about the request. No field of the client's own is passed on.
local function question(txn, names)
  local fields = {
    ['x-original-method'] = { txn.sf:method() },
    ['x-original-uri'] = { txn.sf:pathq() },
    ['x-forwarded-for'] = { txn.sf:src() },
  }
  for name in names:gmatch('[^,]+') do
    local value = txn:get_var('txn.' .. name:gsub('-', '_'))
    if value ~= nil and value ~= '' then fields[name] = { value } end
  end
  return fields
end

--- Sets a variable from a field of the service's answer. HAProxy counts the values of a field from 0.
local function keep(txn, answer, name)
  local values = answer.headers[name]
  if values ~= nil then txn:set_var('txn.sluice_' .. name:gsub('-', '_'), values[0]) end
end

core.register_action('sluice', { 'http-req' }, function(txn, gate, names)
  local answer = core.httpclient():get({ url = gate, headers = question(txn, names) })
  local status = answer.status or 0
  if status == 204 or status == 429 then
    txn:set_var('txn.sluice', status == 204 and 'allowed' or 'denied')
    for _, name in ipairs({ 'ratelimit', 'ratelimit-policy', 'retry-after' }) do keep(txn, answer, name) end
    txn:set_var('txn.sluice_body', answer.body)
    return
  end
  local is_down = status == 0 or status >= 500
  txn:set_var('txn.sluice', is_down and 'down' or 'refused')
  txn:log(core.err, 'sluice: no decision, status ' .. status .. ': ' .. (answer.body or ''))
end, 2)
