BBBB BBBB gettext(u'The authenticator app is removed.') 
