import spec
from conformance.clients import breaks


def test_every_requirement_that_breaks_a_client_exists():
    known = {name for profile in spec.profile_names() for name in spec.load_profile(profile).promises}
    assert set(breaks()) <= known


def test_clients_are_named_with_their_versions():
    assert all(any(char.isdigit() for char in client) for clients in breaks().values() for client in clients)
    assert len(breaks()["response.choices.required"]) == 9
