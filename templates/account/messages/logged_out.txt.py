BBBB BBBB gettext(u'Signed out.') 
