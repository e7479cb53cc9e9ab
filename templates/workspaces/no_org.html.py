BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB
BBBB BBBB
 #

BBBBB BBBBBXXXXXXBBBBBBBB
BBBBB BBBBB
  BB BBBBBBBBBBB
     gettext(u'Your membership is suspended') 
  BBBB
     gettext(u'No organization yet') 
  BBBBB
BBBBBBBB
BBBBB BBBB
  BB BBBBBBBBBBB
     gettext(u'Your membership is suspended') 
  BBBB
     gettext(u'No organization yet') 
  BBBBB
BBBBBBBB
BBBBB BBBBBBB
  XXXX XXXXXXXXXXXXXXXXXXX XXXXXXX
    BB BBBBBBBBBBB
      XXXX gettext(u'Your membership is suspended') XXXXX
      BBB B BB BBBBBBBBBBB
        XXX
           gettext(u'Your membership in %(name)s is suspended.') 
            SSSS SSSSSSSSSS SS SSSSSSSS SS SSSSSSSSSS
          
          BB BBBBBBBBBBB
             gettext(u'The directory %(directory)s no longer lists you.') 
              SSS SSSSSSSSS SSSSSSSSSSSSS SS SSSSSS SSSSS SSSS
            
          BBBBB
        XXXX
        BB BBBBBBBB
          XX XXXXXXXXXXXXXX gettext(u'Ask an owner of the organization:') XXXX
          XXXX
            BBB BBBBB BB BBBBBBBBBBBBBBBBBBB
              XXXXXXXXX
            BBBBBB
          XXXXX
        BBBBB
      BBBBBB
    BBBB
      XXXX gettext(u"You're not in an organization yet") XXXXX
      XX XXXXXXXXXXXXXX gettext(u'Ask an administrator to invite you with this email address:') XXXX
      XXXXXXXXXXX
    BBBBB
    XXXXX XXXXXXXXXXXXX XXXXXXXXBBB BBBBBBBBBBBBBBBBXX
      BBBBBBBBBB
      XXXXXXX XXXXXXXXXXXX pgettext(u'button', u'Sign out') XXXXXXXXX
    XXXXXXX
  XXXXXX
BBBBBBBB
