BBBB BBBB gettext(u'The passkey is removed.') 
